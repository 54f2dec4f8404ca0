import { expect, it } from "vitest";
import { type Cell, fileName, inUnit, isoTime, toCsv } from "./csv";

const one = (cell: Cell): string => toCsv([{ title: "x", value: () => cell }], [null]).slice(3, -2);

it.each<[Cell, string]>([
  ["shop", "shop"],
  [12000, "12000"],
  [-5, "-5"],
  [undefined, ""],
  ["a,b", '"a,b"'],
  ['the "new" one', '"the ""new"" one"'],
  ["two\nlines", '"two\nlines"'],
])("writes %j as %s", (cell, text) => expect(one(cell)).toBe(text));

it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1", "＝1"])("keeps spreadsheets from running %j", (text) =>
  expect(one(text).replace(/^"/, "")).toBe(`'${text}${/[\r]/.test(text) ? '"' : ""}`),
);

it("guards before it quotes", () => expect(one('=HYPERLINK("http://x","y")')).toBe(`"'=HYPERLINK(""http://x"",""y"")"`));

it("ends each line as RFC 4180 says, and guards titles too", () => {
  expect(toCsv([{ title: "=a", value: (row: number) => row }], [1, 2])).toBe("'=a\r\n1\r\n2\r\n");
});

it("names the unit where all rows share one", () => {
  const title = inUnit<string | undefined>("Quota", (unit) => unit);
  expect(title(["MiB", "MiB", undefined])).toBe("Quota (MiB)");
  expect(title(["MiB", "GiB"])).toBe("Quota");
  expect(title(["", ""])).toBe("Quota");
  expect(title([])).toBe("Quota");
});

it("has times and names of files that sort", () => {
  expect(isoTime(0)).toBe("1970-01-01T00:00:00Z");
  expect(isoTime(undefined)).toBeUndefined();
  expect(fileName("Projects of Käse & Co", new Date(0))).toBe("projects-of-käse-co-1970-01-01.csv");
});
