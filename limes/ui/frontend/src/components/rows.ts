// Sorting, cutting out and exporting rows: what DataTable computes.
import type { ComponentChildren } from "preact";
import type { Field } from "../lib/csv";

export interface Column<Row> {
  key: string;
  title: string;
  render: (row: Row) => ComponentChildren;
  /** Without, there is no sorting by this column. */
  sortBy?: (row: Row) => string | number;
  /** What the exported file has of it. Without, it is what it is sorted by; empty: nothing. */
  csv?: Field<Row>[];
  /** `text` takes what room is left. */
  class?: "number" | "wide" | "act" | "text";
  /** Whether its cells name their rows. */
  isHeader?: boolean;
  isTitleHidden?: boolean;
}

export interface Order {
  key: string;
  isDescending: boolean;
}

const TEXT = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function compare(one: string | number, other: string | number): number {
  return typeof one === "number" && typeof other === "number" ? one - other : TEXT.compare(String(one), String(other));
}

/** The rows in an order; equal ones keep their order. */
export function sorted<Row>(rows: Row[], columns: Column<Row>[], order: Order): Row[] {
  const sortBy = columns.find((one) => one.key === order.key)?.sortBy;
  if (!sortBy) return rows;
  const direction = order.isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, by: sortBy(row) }))
    .sort((one, other) => direction * compare(one.by, other.by))
    .map((one) => one.row);
}

/** An order as the address has it: `usage`, or `-usage` for the largest first. */
export const orderText = (order: Order): string => (order.isDescending ? "-" : "") + order.key;

/** The order that an address asks for, where there is such a column. */
export function readOrder<Row>(text: string | undefined, columns: Column<Row>[], otherwise: Order): Order {
  const key = text?.replace(/^-/, "");
  return columns.some((one) => one.key === key && one.sortBy) ? { key: key!, isDescending: text!.startsWith("-") } : otherwise;
}

/** The columns of the exported file. */
export function fieldsOf<Row>(columns: Column<Row>[]): Field<Row>[] {
  return columns.flatMap(({ title, sortBy, csv }) => csv ?? (sortBy ? [{ title, value: sortBy }] : []));
}

const SPARE = 8;

/** Which rows are in sight or nearly so. */
export function inSight(count: number, top: number, height: number, rowHeight: number): { from: number; to: number } {
  const first = Math.min(Math.floor(top / rowHeight), Math.max(0, count - Math.ceil(height / rowHeight)));
  return {
    from: Math.max(0, first - SPARE),
    to: Math.min(count, first + Math.ceil(height / rowHeight) + SPARE),
  };
}
