import { expect, it } from "vitest";
import { fieldsOf, inSight, orderText, readOrder, sorted, type Column } from "./rows";

const columns: Column<{ name: string; size: number }>[] = [
  { key: "name", title: "Name", render: (row) => row.name, sortBy: (row) => row.name },
  { key: "size", title: "Size", render: (row) => row.size, sortBy: (row) => row.size },
  { key: "other", title: "Other", render: () => "" },
];
const rows = [
  { name: "lab-10", size: 1 },
  { name: "Lab-2", size: 3 },
  { name: "lab-1", size: 3 },
];
const names = (key: string, isDescending = false) => sorted(rows, columns, { key, isDescending }).map((one) => one.name);

it("sorts names as people do", () => expect(names("name")).toEqual(["lab-1", "Lab-2", "lab-10"]));
it("sorts numbers, and keeps the order of equals", () => expect(names("size", true)).toEqual(["Lab-2", "lab-1", "lab-10"]));
it("leaves the order alone where there is none", () => expect(names("other")).toEqual(["lab-10", "Lab-2", "lab-1"]));

it("reads an order from the address, if there is such a column", () => {
  const first = { key: "name", isDescending: false };
  expect(readOrder("-size", columns, first)).toEqual({ key: "size", isDescending: true });
  expect(readOrder(orderText({ key: "size", isDescending: false }), columns, first)).toEqual({ key: "size", isDescending: false });
  for (const text of [undefined, "", "-", "other", "-nothing"]) expect(readOrder(text, columns, first)).toBe(first);
});

it("exports what a table is sorted by, unless a column says something else", () => {
  const unit = { title: "Unit", value: () => "GiB" };
  expect(fieldsOf(columns).map((one) => one.title)).toEqual(["Name", "Size"]);
  expect(fieldsOf([{ ...columns[0]!, csv: [] }, { ...columns[2]!, csv: [unit] }])).toEqual([unit]);
});

it.each([
  [0, 0, { from: 0, to: 0 }],
  [5, 0, { from: 0, to: 5 }],
  [1000, 0, { from: 0, to: 18 }],
  [1000, 4400, { from: 92, to: 118 }],
  [1000, 44000, { from: 982, to: 1000 }],
  [3, 44000, { from: 0, to: 3 }],
])("of %d rows at %d", (count, top, range) => expect(inSight(count, top, 440, 44)).toEqual(range));
