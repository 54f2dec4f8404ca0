import { expect, it } from "vitest";
import type { QuotaRow } from "../api/quota";
import { read } from "./edits";

const row = (name: string, quota: number, unit = "") => ({ service: "compute", name, quota, figures: { unit } }) as QuotaRow;
const rows = [row("cores", 40), row("ram", 2048, "MiB")];

it("reads changes in the resource's unit", () => {
  const typed = { "compute/cores": "+10%", "compute/ram": "4 GiB" };
  expect(read(rows, typed).edits).toEqual([
    { service: "compute", name: "cores", amount: 44 },
    { service: "compute", name: "ram", amount: 4096 },
  ]);
});

it("takes what changes nothing for no change", () => {
  expect(read(rows, { "compute/cores": "40", "compute/ram": " 2g " })).toEqual({ edits: [], problems: new Map() });
  expect(read(rows, { "compute/cores": " " }).edits).toEqual([]);
});

it("says what it cannot read", () => {
  const { edits, problems } = read(rows, { "compute/cores": "many", "compute/ram": "3 GiB" });
  expect([...problems.keys()]).toEqual(["compute/cores"]);
  expect(edits).toEqual([{ service: "compute", name: "ram", amount: 3072 }]);
});
