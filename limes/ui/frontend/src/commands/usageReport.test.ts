import { expect, it } from "vitest";
import type { Place } from "../lib/paths";
import type { Wanted } from "../usageReport/choice";
import { clientCommand, curlCommand } from "./change";
import { reportingUsage } from "./usageReport";

const WANTED: Wanted = { from: "2026-10-01", until: "2026-11-01", granularity: "month" };
const CORES: Wanted = { ...WANTED, granularity: "day", service: "compute", resource: "cores" };
const oneLine = (text: string): string => text.replaceAll(" \\\n ", "");

it.each<[Place, Wanted, string]>([
  [{}, WANTED, "--all-domains --from 2026-10-01 --until 2026-11-01 --granularity month -f csv"],
  [{ domain: "d1" }, WANTED, "--domain d1 --from 2026-10-01 --until 2026-11-01 --granularity month -f csv"],
  [{ domain: "d1", project: "p1" }, CORES, "--project p1 --domain d1 --from 2026-10-01 --until 2026-11-01 --granularity day --resource compute/cores -f csv"],
])("tells the client: %j", (at, wanted, options) => {
  expect(oneLine(clientCommand(reportingUsage(at, wanted, "x.csv")))).toBe(`openstack limes usage report ${options}`);
});

it("tells curl what the page asks for, and where to save it", () => {
  const query = "from=2026-10-01&until=2026-11-01&granularity=day&service=compute&resource=cores";
  expect(oneLine(curlCommand(reportingUsage({ domain: "d1" }, CORES, "x.csv"), "https://limes"))).toBe(
    `curl --fail-with-body 'https://limes/v1/domains/d1/usage-reports?${query}' -H "X-Auth-Token: $OS_TOKEN" -H 'Accept: text/csv' -o x.csv`,
  );
});
