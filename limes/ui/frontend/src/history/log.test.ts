import { expect, test } from "vitest";
import type { LoggedChange } from "../api/schema";
import { beforeAndAfter, timesOf } from "./log";

const CHANGE: LoggedChange = {
  id: "1:0:1",
  at: 1,
  kind: "quota",
  sentence: "",
  domain: { id: "d", name: "acme" },
  old: null,
  new: null,
};

test("days are those of the browser", () => {
  const now = new Date(2027, 0, 2, 13, 30);
  const midnight = (day: number): number => new Date(2027, 0, day).getTime() / 1000;
  expect(timesOf("yesterday", now)).toEqual({ from: midnight(1), until: midnight(2) });
  expect(timesOf("recent", now)).toEqual({ from: midnight(1) });
  expect(timesOf("all", now)).toEqual({});
  expect(timesOf("week", now).from).toBe(now.getTime() / 1000 - 7 * 86400);
});

test("numbers and switches before and after", () => {
  expect(beforeAndAfter({ ...CHANGE, old: 1024, new: 2048, unit: "MiB" })).toEqual([["1 GiB"], ["2 GiB"]]);
  expect(beforeAndAfter({ ...CHANGE, kind: "bursting", old: false, new: true })).toEqual([["off"], ["on"]]);
  expect(beforeAndAfter({ ...CHANGE, old: null, new: 5 })).toEqual([[], ["5"]]);
});

test("what of a commitment has changed besides its amount", () => {
  const fields = [
    { name: "status", old: "pending", new: "confirmed" },
    { name: "transfer_status", old: null, new: "public" },
  ];
  expect(beforeAndAfter({ ...CHANGE, kind: "commitment", old: 7, new: 7, fields })).toEqual([
    ["status: pending"],
    ["status: confirmed", "transfer status: public"],
  ]);
});

test("what a request asks for, and what was granted", () => {
  const amount = { service: "compute", resource: "cores", what: "quota", present: 5, wanted: 8 } as const;
  expect(beforeAndAfter({ ...CHANGE, kind: "request", amounts: [amount] })[1]).toEqual(["compute/cores: 8 wanted"]);
  expect(beforeAndAfter({ ...CHANGE, kind: "request", amounts: [{ ...amount, granted: 6 }] })[1]).toEqual(["compute/cores: 6"]);
});
