import { expect, it } from "vitest";
import type { Commitment } from "../api/schema";
import { type ResourceInfo, resources } from "../session/resources";
import { inFull, whatOf } from "./wording";

const cores = {
  service_type: "compute",
  resource_name: "cores",
  availability_zone: "az-one",
  amount: 20,
  expires_at: Date.UTC(2027, 4, 3, 12) / 1000,
} as Commitment;

it("says what a commitment is", () => {
  expect(inFull(cores)).toBe("20 cores in az-one, until 3 May 2027");
  expect(whatOf({ ...cores, resource_name: "ram", unit: "MiB", amount: 204800, availability_zone: "any" })).toBe("200 GiB ram in any zone");
});

it("uses the name that the cloud has for the resource", () => {
  resources.value = [{ service: "compute", name: "cores", title: "Virtual cores" } as ResourceInfo];
  expect(whatOf(cores)).toBe("20 Virtual cores in az-one");
  expect(whatOf({ ...cores, service_type: "other" })).toBe("20 cores in az-one");
});
