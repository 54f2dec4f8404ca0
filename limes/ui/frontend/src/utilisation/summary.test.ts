import { expect, it } from "vitest";
import type { Report } from "../api/report";
import type { Utilisation } from "../api/schema";
import { advice, commitPath, missing, summarise, timesOf } from "./summary";

const day = (date: string, committed: number, used: number, unused: number) => ({ date, committed, used, unused, min_used: used, max_used: used });
const cores = {
  service_type: "compute",
  resource_name: "cores",
  availability_zone: "west-1",
  recommended_amount: 12,
  days: [day("2026-01-01", 10, 14, 0), day("2026-01-02", 20, 15, 5)],
} satisfies Utilisation;

const reportOf = (committed: number) =>
  ({ services: [{ resources: [{ service: "compute", name: "cores", azs: [{ name: "west-1", committed }] }] }] }) as unknown as Report;

it("takes averages of use, and what is committed now", () => {
  expect(summarise(cores, reportOf(25))).toMatchObject({ key: "compute/cores/west-1", committed: 25, used: 15, unused: 3 });
});

it("is zero without days, and without anything in the report", () => {
  const empty = { services: [] } as unknown as Report;
  expect(summarise({ ...cores, days: [] }, empty)).toMatchObject({ committed: 0, used: 0, unused: 0 });
});

it("puts days at their noon", () => expect(timesOf(cores.days)).toEqual([1767268800, 1767355200]));

it.each([
  [20, /just what is committed/],
  [30, /10 more would be used well/],
  [5, /15 could go to another project/],
])("gives advice where %d would be right", (recommended_amount, text) => {
  expect(advice(summarise({ ...cores, recommended_amount }, reportOf(20)))).toMatch(text);
});

it("leads to where what is missing is bought", () => {
  const ram = { ...cores, resource_name: "ram", unit: "MiB", recommended_amount: 3072 };
  const short = { ...summarise(ram, reportOf(0)), committed: 1024 };
  expect(commitPath(short)).toBe("/commitments?do=buy&of=compute%2Fram&az=west-1&amount=2+GiB");
  expect(missing({ ...short, committed: 5000 })).toBe(0);
});
