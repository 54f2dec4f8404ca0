// One resource: its bar, and on demand its availability zones and what else is known.
import type { AzFigures, Figures } from "../api/report";
import type { Rights } from "../api/rights";
import { type Level, pagePath, type Place } from "../lib/paths";
import { stateOf, stateText } from "../lib/state";
import { format, percent } from "../lib/units";
import { GrowthActions } from "../growth/GrowthActions";
import { isStopped, limitOf } from "../growth/bounds";
import { newRequestPath } from "../requests/words";
import { temporaryText } from "../quota/temporary";
import { mayAsk, useRights } from "../session/rights";
import { Meter } from "./Meter";
import { Scale } from "./Scale";
import { StateMark } from "./StateMark";

const LIMIT_NAMES: Record<Level, string> = { cloud: "capacity", domain: "quota", project: "quota" };

interface Props {
  figures: Figures;
  level: Level;
  place: Place;
}

interface Lead {
  title: string;
  href: string;
}

/** Where the questions about a resource are answered. */
function leads(figures: Figures, level: Level, place: Place, rights: Rights | undefined): Lead[] {
  const { service, name, limit, raw, grows } = figures;
  const { cloud, domain, project } = rights ?? {};
  const seesProjects = level === "cloud" ? cloud?.list_projects : domain?.list_projects;
  const seesHistory = level === "domain" ? domain?.show_history : project?.show_history;
  const seesUsage = level === "cloud" ? cloud?.show : true;
  const of = `resource=${encodeURIComponent(`${service}/${name}`)}`;
  const own = level === "cloud" ? undefined : rights?.[level];
  const mayRequest = rights && mayAsk(rights, level) && !own?.raise_quota && limit !== undefined && (!grows || level === "project");
  const isCommittable = "commitment_config" in raw;
  const root = level === "cloud" ? (rest: string): string => `/ui${rest}` : (rest: string): string => pagePath(place, rest);
  const all: (Lead | false | undefined)[] = [
    level !== "project" && seesProjects && { title: "Who uses it", href: root(`/projects?${of}&sort=-usage`) },
    level === "cloud" && cloud?.list_domains && { title: "Use by domain", href: root(`/domains?${of}&sort=-usage`) },
    seesUsage && { title: "Usage over time", href: root(`/usage?${of}`) },
    level !== "cloud" && limit !== undefined && seesHistory && { title: "History and explanation", href: root(`/history?${of}`) },
    mayRequest && { title: "Request more", href: newRequestPath(place, [{ service, name }]) },
    isCommittable && (level === "project" || seesProjects) && { title: "Commitments", href: root(`/commitments?${of}`) },
  ];
  return all.filter((one): one is Lead => Boolean(one));
}

function Numbers({ figures: { usage, limit, unit }, limitName }: { figures: Figures; limitName: string }) {
  if (limit === 0 && usage === 0) return <span class="muted">no {limitName}</span>;
  return (
    <>
      <strong>{format(usage, unit)}</strong>
      {limit !== undefined && ` / ${format(limit, unit)} `}
      {limit !== undefined && limit > 0 && <span class="muted">{percent(usage, limit)}</span>}
    </>
  );
}

export function Resource({ figures, level, place }: Props) {
  const { usage, limit, unit, committed, distributed } = figures;
  const limitName = LIMIT_NAMES[level];
  const state = stateOf(usage, limit);
  const rights = useRights(place);
  return (
    <details class="resource-box">
      <summary class="resource">
        <span class="resource-name">
          {figures.title} {figures.category && <small>{figures.category}</small>}
        </span>
        <Meter {...{ usage, limit, unit, committed, distributed, limitName }} />
        <span class="resource-numbers">
          <Numbers figures={figures} limitName={limitName} />
          <StateMark state={state} text={stateText(state, limitName)} />
        </span>
      </summary>
      <div class="resource-more">
        <Facts figures={figures} level={level} />
        {figures.azs.length > 0 && <Zones figures={figures} level={level} />}
        {figures.grows && <GrowthActions figures={figures} place={place} />}
        <ul class="leads">
          {leads(figures, level, place, rights).map((one) => (
            <li key={one.href}>
              <a href={one.href}>{one.title}</a>
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}

function Facts({ figures, level }: { figures: Figures; level: Level }) {
  const { unit, limit, usage, distributed, raw } = figures;
  const facts: [string, string][] = [];
  const add = (title: string, amount: number | undefined): void => {
    if (amount !== undefined) facts.push([title, format(amount, unit)]);
  };
  if (limit !== undefined) add(level === "cloud" ? "Free capacity" : "Free", Math.max(0, limit - usage));
  add(level === "cloud" ? "Given to domains" : "Given to projects", distributed);
  if (figures.grows) facts.push(["How quota is given", isStopped(figures) ? "What usage and commitments need" : "It grows by itself"]);
  add("Limit of growth", limitOf(figures));
  if (level === "domain" && limit !== undefined && !figures.grows) add("Left to give", Math.max(0, limit - (distributed ?? 0)));
  if (figures.committed > 0) add("Committed", figures.committed);
  if (figures.pending > 0) add("Waiting to be confirmed", figures.pending);
  if (figures.planned > 0) add("Planned commitments", figures.planned);
  add("Physical usage", raw.physical_usage);
  if ("raw_capacity" in raw) add("Raw capacity", raw.raw_capacity);
  if ("usable_quota" in raw && raw.usable_quota !== raw.quota) add("Usable quota (bursting)", raw.usable_quota);
  if ("backend_quota" in raw) add("Quota in the backend", raw.backend_quota);
  add("Usage beyond quota (bursting)", raw.burst_usage);
  if ("temporary_quota" in raw && raw.temporary_quota) {
    const { problem } = raw.temporary_quota;
    facts.push(["Quota for a time", temporaryText(raw.temporary_quota, unit) + (problem ? `: ${problem}` : "")]);
  }
  if (raw.contained_in) facts.push(["Part of", raw.contained_in]);
  if ("scales_with" in raw && raw.scales_with) facts.push(["Scales with", `${raw.scales_with.resource_name} × ${raw.scales_with.factor}`]);
  return (
    <dl class="facts">
      {facts.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Zones({ figures, level }: { figures: Figures; level: Level }) {
  const { unit } = figures;
  const limitIn = (az: AzFigures): number | undefined => az.capacity ?? az.quota;
  const reach = (az: AzFigures): number => Math.max(limitIn(az) ?? 0, az.usage, az.committed);
  const scale = Math.max(...figures.azs.map(reach));
  return (
    <ul class="zones" aria-label={`Availability zones of ${figures.title}`}>
      {figures.azs.map((az) => (
        <li key={az.name}>
          <span>{az.name}</span>
          <Meter {...az} limit={limitIn(az)} {...{ unit, scale }} limitName={LIMIT_NAMES[level]} />
          <span class="resource-numbers">
            <strong>{format(az.usage, unit)}</strong>
            {limitIn(az) !== undefined && ` / ${format(limitIn(az)!, unit)}`}
            {az.committed > 0 && <span class="muted"> · {format(az.committed, unit)} committed</span>}
          </span>
        </li>
      ))}
      <Scale most={scale} unit={unit} />
    </ul>
  );
}
