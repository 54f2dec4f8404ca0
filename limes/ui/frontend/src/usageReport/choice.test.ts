import { describe, expect, it } from "vitest";
import { daysOf, monthsUpTo, monthTitle, OTHER_DAYS, readChoice, reportFile, usualMonth } from "./choice";

const NOW = new Date("2027-01-31T23:30:00Z");

it("begins with the last month that has ended, or where there is none with the present one", () => {
  expect(usualMonth(NOW, true)).toBe("2026-12");
  expect(usualMonth(NOW, false)).toBe("2027-01");
  expect(monthsUpTo(NOW, false)).toEqual(["2027-01"]);
  expect(monthsUpTo(NOW, true).slice(0, 3)).toEqual(["2027-01", "2026-12", "2026-11"]);
});

it("knows months in words, and how long they are", () => {
  expect(monthTitle("2026-11")).toBe("November 2026");
  expect(daysOf("2028-02")).toEqual({ first: "2028-02-01", last: "2028-02-29" });
});

describe("what is asked for", () => {
  it("is a whole month, up to the first day of the next", () => {
    const wanted = { from: "2026-12-01", until: "2027-01-01", granularity: "month" };
    expect(readChoice({}, "2026-12")).toEqual({ wanted, period: "2026-12" });
  });

  it("includes the last day", () => {
    const days = { month: OTHER_DAYS, first: "2026-11-03", last: "2026-11-30", each: "day", resource: "compute/cores" };
    const wanted = { from: "2026-11-03", until: "2026-12-01", granularity: "day", service: "compute", resource: "cores" };
    expect(readChoice(days, "2026-12")).toEqual({ wanted, period: "2026-11-03-to-2026-11-30" });
  });

  it.each([
    [{ first: "2026-11-03", last: "2026-11-30" }, "not whole months"],
    [{ first: "2026-11-01", last: "2026-11-29" }, "not whole months"],
    [{ first: "2026-11-03", last: "2026-11-02", each: "day" }, "before the first"],
    [{ first: "", last: "" }, undefined], // fields that were emptied leave the address
    [{ first: "2026-13-01" }, "Both days are needed"],
  ])("needs days that go together: %j", (days, problem) => {
    const { wanted, problem: found } = readChoice({ month: OTHER_DAYS, ...Object.fromEntries(Object.entries(days).filter(([, day]) => day)) }, "2026-12");
    if (problem === undefined) expect(wanted?.from).toBe("2026-12-01");
    else expect([wanted, found]).toEqual([undefined, expect.stringContaining(problem)]);
  });

  it("takes whole months for months, and nothing of an address that makes no sense", () => {
    expect(readChoice({ month: OTHER_DAYS, first: "2026-10-01", last: "2026-11-30" }, "2026-12").wanted?.until).toBe("2026-12-01");
    expect(readChoice({ month: "2026-99" }, "2026-12").wanted).toBeUndefined();
  });
});

it("names files so that none replaces another", () => {
  const wanted = { from: "", until: "", granularity: "month" } as const;
  expect(reportFile(["acme"], "2026-10", wanted)).toBe("limes-usage-acme-2026-10.csv");
  expect(reportFile(["acme", "Shop & Co"], "2026-10", { ...wanted, granularity: "day" })).toBe("limes-usage-acme-shop-co-2026-10-by-day.csv");
  expect(reportFile(["cloud"], "2026-10", { ...wanted, granularity: "total", service: "compute", resource: "cores" })).toBe(
    "limes-usage-cloud-compute-cores-2026-10-total.csv",
  );
});
