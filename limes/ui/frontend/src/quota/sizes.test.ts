import { expect, it } from "vitest";
import type { QuotaSetShape } from "../api/schema";
import { amountsOf, filledIn, offered } from "./sizes";

const MEDIUM: QuotaSetShape = {
  name: "medium",
  description: "",
  services: [{ type: "compute", resources: [{ name: "cores", quota: 40 }, { name: "ram", quota: 2048, unit: "MiB" }] }],
};
const field = (name: string, present: number, unit = "") => ({ key: `compute/${name}`, unit, present });

it("fills in what differs", () => {
  const fields = [field("cores", 50), field("ram", 2048, "MiB"), field("disk", 1)];
  expect(filledIn(fields, amountsOf(MEDIUM), false)).toEqual({ "compute/cores": "40" });
});

it("asks only for more", () => {
  const fields = [field("cores", 50), field("ram", 1024, "MiB")];
  expect(filledIn(fields, amountsOf(MEDIUM), true)).toEqual({ "compute/ram": "2 GiB" });
});

it("empties the fields without a size", () => {
  expect(filledIn([field("cores", 50)], amountsOf(undefined), false)).toEqual({});
});

it("offers the sets that say something about the fields", () => {
  const storage: QuotaSetShape = { name: "storage", description: "", services: [{ type: "volume", resources: [{ name: "capacity", quota: 5 }] }] };
  const fields = [field("cores", 50), field("ram", 1024, "MiB")];
  expect(offered([MEDIUM, storage], fields)).toEqual([{ value: "medium", title: "medium" }]);
  expect(offered([MEDIUM], [])).toEqual([]);
});

it("shows the amount if there is one field", () => {
  expect(offered([MEDIUM], [field("ram", 1024, "MiB")])).toEqual([{ value: "medium", title: "medium: 2 GiB" }]);
  expect(offered([MEDIUM], [field("disk", 1)])).toEqual([]);
});
