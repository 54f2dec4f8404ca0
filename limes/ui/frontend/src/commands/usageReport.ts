// A usage report as commands.
import { reportPath } from "../api/usageReports";
import type { Place } from "../lib/paths";
import type { Wanted } from "../usageReport/choice";
import type { Change } from "./change";

export function reportingUsage(at: Place, wanted: Wanted, file: string): Change {
  const { from, until, granularity, service, resource } = wanted;
  return {
    client: [
      ["usage", "report", ...scopeOf(at)],
      ["--from", from, "--until", until, "--granularity", granularity],
      ...(service && resource ? [["--resource", `${service}/${resource}`]] : []),
      ["-f", "csv"],
    ],
    request: { method: "GET", path: reportPath(at, wanted), accept: "text/csv", file },
  };
}

function scopeOf({ domain, project }: Place): string[] {
  if (project) return ["--project", project, "--domain", domain ?? ""];
  return domain ? ["--domain", domain] : ["--all-domains"];
}
