import { describe, expect, it } from "vitest";
import { figures } from "../api/report";
import type { ClusterResource, ProjectResource } from "../api/schema";
import { offersOf } from "./offers";
import { zonesOf } from "./zones";

function offer(resource: Partial<ProjectResource>) {
  const config = { durations: ["1 year"], availability_zones: ["west-1", "west-2"] };
  const shown = figures("compute", { name: "cores", usage: 0, commitment_config: config, ...resource } as ProjectResource);
  const services = [{ type: "compute", area: "", isStale: false, scrapedAt: undefined, problem: undefined, resources: [shown] }];
  return offersOf({ level: "project", name: "", place: {}, etag: null, services, project: undefined })[0]!;
}

const cloud = (resource: Partial<ClusterResource>) => figures("compute", { name: "cores", usage: 0, ...resource } as ClusterResource);

describe("zonesOf", () => {
  it("shows all zones of the offer, with what the API says is free", () => {
    const own = offer({ per_az: { "west-1": { usage: 5, committed: { "1 year": 8, "1 hour": 1 }, pending_commitments: { "1 year": 2 } } } });
    const whole = cloud({
      capacity: 150,
      committable: { "west-1": 11, "west-2": 0 },
      per_az: { "west-1": { capacity: 100, projects_usage: 60, unused_commitments: 15 }, "west-2": { capacity: 50, projects_usage: 60 } },
    });
    expect(zonesOf(own, whole)).toEqual([
      { name: "west-1", usage: 5, committed: 9, pending: 2, planned: 0, capacity: 100, free: 11 },
      { name: "west-2", usage: 0, committed: 0, pending: 0, planned: 0, capacity: 50, free: 0 },
    ]);
  });

  it("has no capacity where none is known", () => {
    const [first] = zonesOf(offer({}), cloud({ per_az: { "west-1": { capacity: 0 } } }));
    expect([first?.capacity, first?.free]).toEqual([undefined, undefined]);
    expect(zonesOf(offer({}), undefined)[0]?.free).toBeUndefined();
  });

  it("shows usage outside of the offer's zones", () => {
    const names = zonesOf(offer({ per_az: { any: { usage: 3 }, unknown: { usage: 0 } } }), undefined).map((one) => one.name);
    expect(names).toEqual(["west-1", "west-2", "any"]);
  });

  it("counts all zones together where commitments are not bound to one", () => {
    const config = { durations: ["1 year"], availability_zones: ["any"] };
    const own = offer({ commitment_config: config, per_az: { "west-1": { usage: 5 }, any: { usage: 2, committed: { "1 year": 9 } } } });
    const whole = cloud({
      capacity: 100,
      committable: { any: 65 },
      per_az: { "west-1": { capacity: 60, projects_usage: 10 }, "west-2": { capacity: 40, projects_usage: 20, unused_commitments: 5 } },
    });
    expect(zonesOf(own, whole)).toEqual([{ name: "any", usage: 7, committed: 9, pending: 0, planned: 0, capacity: 100, free: 65 }]);
  });
});

it("offers nothing where commitments are not configured", () => {
  const shown = figures("compute", { name: "cores", usage: 1 } as ProjectResource);
  const services = [{ type: "compute", area: "", isStale: false, scrapedAt: undefined, problem: undefined, resources: [shown] }];
  expect(offersOf({ level: "project", name: "", place: {}, etag: null, services, project: undefined })).toEqual([]);
});
