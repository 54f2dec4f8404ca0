import { expect, it } from "vitest";
import type { ScrapeError } from "../api/schema";
import { affected, distance, filtered, filteredErrors, findingsOf } from "./lists";

const domain = { id: "d1", name: "acme" };
const project = { id: "p1", name: "shop", domain };
const lists = findingsOf({
  domain_quota_overcommitted: [{ service: "compute", resource: "cores", domain, domain_quota: 10, projects_quota: 12 }],
  project_quota_overspent: [{ service: "compute", resource: "ram", unit: "MiB", project, quota: 10, usage: 11 }],
  project_quota_mismatch: [
    { service: "compute", resource: "ram", unit: "MiB", project, quota: 10, backend_quota: -1 },
    { service: "compute", resource: "cores", project, quota: 10, backend_quota: 4 },
  ],
});

it("brings the three lists into one form", () => {
  expect(lists.overcommitted[0]).toMatchObject({ name: "acme", place: { domain: "d1" }, resource: "compute/cores", unit: "", quota: 10, found: 12 });
  expect(lists.overspent[0]).toMatchObject({ name: "shop", place: { domain: "d1", project: "p1" }, unit: "MiB", found: 11 });
  expect(lists.mismatch.map(distance)).toEqual([Number.MAX_SAFE_INTEGER, 6]);
});

it("filters by resource and by names or ids", () => {
  const found = (resource: string, text: string): string[] => filtered(lists.mismatch, resource, text).map((one) => one.resource);
  expect(found("", "")).toHaveLength(2);
  expect(found("compute/cores", "ACME")).toEqual(["compute/cores"]);
  expect(found("", "p1")).toHaveLength(2);
  expect(found("", "p2")).toEqual([]);
});

it("filters and counts errors", () => {
  const errors = [
    { service_type: "compute", message: "connection refused", project, checked_at: 1, affected_projects: 3 },
    { service_type: "storage", message: "timeout", project, checked_at: 1 },
  ] as ScrapeError[];
  expect(errors.map(affected)).toEqual([3, 1]);
  expect(filteredErrors(errors, "storage", "")).toHaveLength(1);
  expect(filteredErrors(errors, "", "REFUSED")).toHaveLength(1);
  expect(filteredErrors(errors, "", "shop")).toHaveLength(2);
  expect(filteredErrors(errors, "compute", "timeout")).toEqual([]);
});
