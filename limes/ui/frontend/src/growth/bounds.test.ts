import { expect, it } from "vitest";
import { figures } from "../api/report";
import type { ProjectResource } from "../api/schema";
import { isStopped, limitOf, limitText, readLimit } from "./bounds";

const of = (raw: Partial<ProjectResource>) => figures("compute", { name: "ram", unit: "MiB", usage: 0, ...raw } as ProjectResource);

it("knows the bounds of a project", () => {
  const bounded = of({ max_quota: 2048, forbid_autogrowth: true });
  expect([limitOf(bounded), limitText(bounded), isStopped(bounded)]).toEqual([2048, "2 GiB", true]);
  expect([limitOf(of({})), limitText(of({})), isStopped(of({}))]).toEqual([undefined, "", false]);
});

it("reads a limit, and nothing as none", () => {
  expect(readLimit("4 GiB", of({}))).toEqual({ limit: 4096 });
  expect(readLimit(" ", of({}))).toEqual({ limit: null });
  expect(readLimit("many", of({})).problem).toContain("Write an amount");
});

it("knows whose quota grows by itself", () => {
  expect(of({ quota_distribution_model: "autogrow" }).grows).toBe(true);
  expect(of({ quota_distribution_model: "hierarchical" }).grows).toBe(false);
});
