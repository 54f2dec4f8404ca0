import { expect, it } from "vitest";
import type { Figures, Report } from "../api/report";
import type { DecidersAnswer, WantedQuota } from "../api/schema";
import { readGrants } from "./amounts";
import { listsOf } from "./shown";
import { decidersText, newRequestPath, readAsk, statusText, wantedText } from "./words";
import { readWishes, wishesOf } from "./wishes";

const figures = (name: string, limit: number | undefined, more: Partial<Figures> = {}) =>
  ({ service: "compute", name, unit: name === "ram" ? "MiB" : "", limit, grows: false, raw: {}, ...more }) as Figures;
const report = (...resources: Figures[]) => ({ level: "project", services: [{ resources }] }) as unknown as Report;
const wanted = (resource: string, wanted_quota: number, unit?: string) =>
  ({ service: "compute", resource, what: "quota", present_quota: 10, wanted_quota, unit }) as WantedQuota;

it("asks for what has a quota or a limit of growth; a domain not for what grows", () => {
  const growing = figures("ram", 100, { grows: true });
  const limited = figures("ram", 100, { grows: true, raw: { max_quota: 150 } as Figures["raw"] });
  expect(wishesOf(report(figures("cores", 40), figures("things", undefined), growing, limited)).map((one) => one.present)).toEqual([40, 100, 150]);
  expect(wishesOf({ ...report(figures("cores", 40), growing), level: "domain" }).map((one) => one.present)).toEqual([40]);
});

it("is about the quota after one for a time", () => {
  const raw = (state: string, quota_before?: number) => ({ temporary_quota: { state, quota: 40, quota_before } }) as unknown as Figures["raw"];
  const wishes = wishesOf(report(figures("cores", 40, { raw: raw("active", 20) }), figures("ram", 10, { raw: raw("planned") })));
  expect(wishes.map((one) => one.present)).toEqual([20, 10]);
  expect(readWishes(wishes, { "compute/cores": "40" }).edits).toEqual([{ service: "compute", name: "cores", amount: 40 }]);
});

it("reads what is more than there is", () => {
  const wishes = wishesOf(report(figures("cores", 40), figures("ram", 2048)));
  const { edits, problems } = readWishes(wishes, { "compute/cores": "+20", "compute/ram": "2 GiB", "compute/other": "1" });
  expect(edits).toEqual([{ service: "compute", name: "cores", amount: 60 }]);
  expect([...problems]).toEqual([["compute/ram", "Not more than the present 2 GiB"]]);
});

it("grants everything, or what was lowered", () => {
  const both = [wanted("cores", 60), wanted("ram", 4096, "MiB")];
  expect(readGrants(both, {}).lowered).toEqual([]);
  expect(readGrants(both, { "compute/cores": "60" }).lowered).toEqual([]);
  expect(readGrants(both, { "compute/ram": "3 GiB" }).lowered.map((one) => one.amount)).toEqual([60, 3072]);
  expect([...readGrants(both, { "compute/cores": "61", "compute/ram": "many" }).problems.keys()]).toEqual(["compute/cores", "compute/ram"]);
});

it("keeps wishes in an address", () => {
  const path = newRequestPath({ domain: "d", project: "p" }, [{ service: "compute", name: "cores", amount: 60 }, { service: "compute", name: "ram" }]);
  const text = new URL(path, "http://limes").searchParams.get("ask")!;
  expect([...readAsk(text)]).toEqual([["compute/cores", 60], ["compute/ram", undefined]]);
  expect([...readAsk("nonsense,=,compute/cores=1e9")]).toEqual([["compute/cores", undefined]]);
});

it("says what is wanted and granted", () => {
  expect(wantedText(wanted("ram", 4096, "MiB"))).toBe("ram: 10 MiB to 4 GiB");
  expect(wantedText({ ...wanted("cores", 60), granted_quota: 30 })).toBe("cores: 10 to 60 (30 granted)");
  expect(statusText("partly_approved")).toBe("Partly approved");
});

it("says who decides", () => {
  const found = { deciders: [{ id: "a", name: "Anna" }, { id: "b", name: "" }], level: "domain", more: 3, roles: ["resource_admin"] } as const;
  const text = (more: Partial<DecidersAnswer>) => decidersText({ ...found, deciders: [...found.deciders], roles: [...found.roles], ...more });
  expect(text({})).toBe("Anna, b and 3 others, with the role resource_admin on the domain");
  expect(text({ more: 0 })).toBe("Anna and b, with the role resource_admin on the domain");
  expect(text({ more: 0, deciders: [], level: "cluster", roles: ["boss", "admin"] })).toBe("users with the role boss or admin in the cloud");
  expect(text({ more: 0, roles: [] })).toBe("Anna and b");
});

it("shows first what waits for those who decide", () => {
  expect(Object.keys(listsOf({ domain: "d" }, true))[0]).toBe("waiting");
  expect(Object.keys(listsOf({ domain: "d" }, false))[0]).toBe("open");
  expect(Object.keys(listsOf({ domain: "d", project: "p" }, true))).toEqual(["waiting", "open", "closed", "all"]);
  expect(Object.keys(listsOf({ domain: "d", project: "p" }, false))).toEqual(["proposed", "open", "closed", "all"]);
});
