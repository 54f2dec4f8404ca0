import { describe, expect, it } from "vitest";
import type { Offer } from "./offers";
import { localOf, secondsOf } from "../lib/time";
import { fitting, readPurchase } from "./purchase";

const ram = { key: "compute/ram", service: "compute", resource: "ram", unit: "MiB", durations: ["1 year"], zones: ["west-1", "west-2"] } as Offer;
const purchase = { resource: "compute/ram", zone: "west-2", duration: "1 year", amount: "2 GiB", confirmBy: "", renews: false };
const wanted = { service_type: "compute", resource_name: "ram", availability_zone: "west-2", amount: 2048, duration: "1 year" };

describe("readPurchase", () => {
  it("gives what the API is asked for", () => expect(readPurchase(purchase, ram)).toEqual({ wanted }));
  it("asks nothing without an amount", () => expect(readPurchase({ ...purchase, amount: " " }, ram)).toEqual({}));
  it("says what it cannot read", () => {
    expect(readPurchase({ ...purchase, amount: "many" }, ram).problem).toMatch(/amount such as/);
    expect(readPurchase({ ...purchase, amount: "0" }, ram).problem).toMatch(/zero/);
    expect(readPurchase({ ...purchase, confirmBy: "soon" }, ram).problem).toMatch(/date/);
  });
  it("may renew itself", () =>
    expect(readPurchase({ ...purchase, renews: true }, ram)).toEqual({ wanted: { ...wanted, auto_renew: true } }));
  it("has a later time in seconds", () => {
    const confirm_by = new Date(2027, 0, 31, 12, 30).getTime() / 1000;
    expect(readPurchase({ ...purchase, confirmBy: "2027-01-31T12:30" }, ram)).toEqual({ wanted: { ...wanted, confirm_by } });
  });
});

it("replaces what an offer does not have", () => {
  expect(fitting({ ...purchase, resource: "x", zone: "any", duration: "1 hour" }, ram, [])).toEqual({ ...purchase, zone: "west-1" });
  expect(fitting(purchase, ram, [])).toEqual(purchase);
});

it("rounds times up to minutes, so that they are not too early", () => {
  const seconds = 1_800_000_001;
  expect(secondsOf(localOf(seconds))).toBe(Math.ceil(seconds / 60) * 60);
});
