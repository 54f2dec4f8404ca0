// A table of any length: sorted by its headers, and only the rows in sight are in the document.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { inSight, sorted, type Column, type Order } from "./rows";

export type { Column } from "./rows";

interface Props<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  /** By which column at first. */
  order: Order;
  /** Instead of rows, where there are none. */
  empty: ComponentChildren;
}

const ROW_HEIGHT = 44;

export function DataTable<Row>({ caption, columns, rows, rowKey, order: first, empty }: Props<Row>) {
  const [order, setOrder] = useState(first);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const box = useRef<HTMLDivElement>(null);
  const all = useMemo(() => sorted(rows, columns, order), [rows, columns, order]);
  const range = inSight(all.length, top, height, ROW_HEIGHT);

  useLayoutEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  if (rows.length === 0) return <div ref={box}>{empty}</div>;
  return (
    <div
      ref={box}
      class="table-box"
      tabIndex={0}
      role="region"
      aria-label={caption}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <table aria-rowcount={all.length + 1}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((one) => (
              <Header key={one.key} column={one} order={order} choose={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap rows={range.from} span={columns.length} />
          {all.slice(range.from, range.to).map((row, index) => (
            <tr key={rowKey(row)} aria-rowindex={range.from + index + 2}>
              {columns.map((one) =>
                one.isHeader ? (
                  <th key={one.key} scope="row" class={one.class}>
                    {one.render(row)}
                  </th>
                ) : (
                  <td key={one.key} class={one.class}>
                    {one.render(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
          <Gap rows={all.length - range.to} span={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

function Gap({ rows, span }: { rows: number; span: number }) {
  if (rows <= 0) return null;
  return (
    <tr aria-hidden="true" class="gap">
      <td colSpan={span} style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}

interface HeaderProps<Row> {
  column: Column<Row>;
  order: Order;
  choose: (order: Order) => void;
}

function Header<Row>({ column, order, choose }: HeaderProps<Row>) {
  if (!column.sortBy) {
    return (
      <th scope="col" class={column.class}>
        {column.isTitleHidden ? <span class="visually-hidden">{column.title}</span> : column.title}
      </th>
    );
  }
  const isChosen = order.key === column.key;
  const next: Order = { key: column.key, isDescending: isChosen ? !order.isDescending : column.class === "number" };
  return (
    <th scope="col" class={column.class} aria-sort={isChosen ? (order.isDescending ? "descending" : "ascending") : "none"}>
      <button class="sort" onClick={() => choose(next)}>
        {column.title}
        <span aria-hidden="true">{isChosen ? (order.isDescending ? "↓" : "↑") : ""}</span>
      </button>
    </th>
  );
}
