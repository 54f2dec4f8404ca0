// Tables as files: comma-separated values (RFC 4180), for spreadsheets and programs.

/** A number is written plainly, as people and programs alike can read it: `12000`, not `12,000`. */
export type Cell = string | number | undefined;

/** One column of a file. */
export interface Field<Row> {
  /** Where all amounts are in one unit, it goes here: `Quota (MiB)`. */
  title: string | ((rows: Row[]) => string);
  value: (row: Row) => Cell;
}

/** A spreadsheet takes a text that begins like this for a formula, and would run it. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

function written(cell: Cell): string {
  if (typeof cell === "number") return String(cell);
  if (cell === undefined) return "";
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text of a file, without a byte order mark. */
export function toCsv<Row>(fields: Field<Row>[], rows: Row[]): string {
  const titles = fields.map(({ title }) => (typeof title === "string" ? title : title(rows)));
  const lines = [titles, ...rows.map((row) => fields.map((one) => one.value(row)))];
  return lines.map((line) => line.map(written).join(",") + "\r\n").join("");
}

/** A title with the unit that all rows share; without one where they do not. */
export function inUnit<Row>(title: string, unitOf: (row: Row) => string | undefined): (rows: Row[]) => string {
  return (rows) => {
    const units = new Set(rows.map(unitOf).filter((one) => one !== undefined));
    const [unit] = units;
    return units.size === 1 && unit ? `${title} (${unit})` : title;
  };
}

/** For a file: ISO 8601 in UTC. */
export function isoTime(seconds: number | undefined): Cell {
  return seconds === undefined ? undefined : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** `projects-of-acme-2026-11-22.csv` */
export function fileName(title: string, now = new Date()): string {
  const words = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  return `${words}-${now.toISOString().slice(0, 10)}.csv`;
}

/** Hands a file to the browser. The mark tells spreadsheets that it is UTF-8. */
export function save(name: string, text: string | readonly string[]): void {
  const url = URL.createObjectURL(new Blob(["\uFEFF", ...[text].flat()], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // some browsers read it only after the click
}
