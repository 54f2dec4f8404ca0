// A table of any length: sorted by its headers, exported as a file, and only the rows in sight are in the document.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAddress } from "../lib/address";
import { fileName, save, toCsv } from "../lib/csv";
import { TableFrame } from "./TableFrame";
import { type Column, fieldsOf, inSight, type Order, orderText, readOrder, sorted } from "./rows";

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
  /** Rows are as high as their texts need. All of them are in the document then: not for thousands. */
  isWrapped?: boolean;
  /** While rows are still on their way, there is no file. */
  isComplete?: boolean;
  /** Where the address keeps the order: tables that share a page have different ones. */
  orderKey?: string;
}

const ROW_HEIGHT = 44;

export function DataTable<Row>(props: Props<Row>) {
  const { caption, columns, rows, rowKey, order: first, empty, isWrapped = false, isComplete = true, orderKey = "sort" } = props;
  const [choices, change] = useAddress();
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const box = useRef<HTMLDivElement>(null);
  const order = readOrder(choices[orderKey], columns, first);
  const all = useMemo(() => sorted(rows, columns, order), [rows, columns, orderText(order)]);
  const range = isWrapped ? { from: 0, to: all.length } : inSight(all.length, top, height, ROW_HEIGHT);
  const isEmpty = rows.length === 0;

  useLayoutEffect(() => {
    if (isEmpty) return undefined;
    const element = box.current!;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, [isEmpty]);

  if (isEmpty) return <div>{empty}</div>;
  const choose = (next: Order): void => change({ [orderKey]: orderText(next) === orderText(first) ? undefined : orderText(next) });
  const tools = (
    <button
      class="quiet small"
      disabled={!isComplete}
      title={isComplete ? `${caption} as a file of comma-separated values` : "The rows are still loading"}
      onClick={() => save(fileName(caption), toCsv(fieldsOf(columns), all))}
    >
      Export CSV
    </button>
  );
  return (
    <TableFrame caption={caption} box={box} tools={tools} scrolled={setTop}>
      <table aria-rowcount={all.length + 1} class={isWrapped ? "wrapped" : undefined}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((one) => (
              <Header key={one.key} column={one} order={order} choose={choose} />
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
    </TableFrame>
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
  const kind = [column.class, column.isHeader && "names"].filter(Boolean).join(" ");
  if (!column.sortBy) {
    return (
      <th scope="col" class={kind}>
        {column.isTitleHidden ? <span class="visually-hidden">{column.title}</span> : column.title}
      </th>
    );
  }
  const isChosen = order.key === column.key;
  const next: Order = { key: column.key, isDescending: isChosen ? !order.isDescending : column.class === "number" };
  return (
    <th scope="col" class={kind} aria-sort={isChosen ? (order.isDescending ? "descending" : "ascending") : "none"}>
      <button class="sort" onClick={() => choose(next)}>
        {column.title}
        <span aria-hidden="true">{isChosen ? (order.isDescending ? "↓" : "↑") : ""}</span>
      </button>
    </th>
  );
}
