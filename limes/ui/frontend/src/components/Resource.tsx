// One resource: its bar, and on demand its availability zones and what else is known.
import type { AzFigures, Figures } from "../api/report";
import { type Level, pagePath, type Place } from "../lib/paths";
import { format, percent } from "../lib/units";
import { Meter } from "./Meter";
import { Scale } from "./Scale";

const LIMIT_NAMES: Record<Level, string> = { cloud: "capacity", domain: "quota", project: "quota" };

interface Props {
  figures: Figures;
  level: Level;
  place: Place;
}

export function Resource({ figures, level, place }: Props) {
  const { usage, limit, unit, committed, distributed } = figures;
  const limitName = LIMIT_NAMES[level];
  return (
    <details class="resource-box">
      <summary class="resource">
        <span class="resource-name">
          {figures.title} {figures.category && <small>{figures.category}</small>}
        </span>
        <Meter {...{ usage, limit, unit, committed, distributed, limitName }} />
        <span class="resource-numbers">
          <strong>{format(usage, unit)}</strong>
          {limit !== undefined && (
            <>
              {" / "}
              {format(limit, unit)} <span class="muted">{percent(usage, limit)}</span>
            </>
          )}
        </span>
      </summary>
      <div class="resource-more">
        <Facts figures={figures} level={level} />
        {figures.azs.length > 0 && <Zones figures={figures} level={level} />}
        {level !== "cloud" && limit !== undefined && (
          <p>
            <a href={pagePath(place, `/history?resource=${figures.service}/${figures.name}`)}>History and explanation</a>
            {"commitment_config" in figures.raw && (
              <>
                {" · "}
                <a href={pagePath(place, `/commitments?resource=${figures.service}/${figures.name}`)}>Commitments</a>
              </>
            )}
          </p>
        )}
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
  if (level === "domain" && limit !== undefined) add("Left to give", Math.max(0, limit - (distributed ?? 0)));
  if (figures.committed > 0) add("Committed", figures.committed);
  if (figures.pending > 0) add("Waiting to be confirmed", figures.pending);
  if (figures.planned > 0) add("Planned commitments", figures.planned);
  add("Physical usage", raw.physical_usage);
  if ("raw_capacity" in raw) add("Raw capacity", raw.raw_capacity);
  if ("usable_quota" in raw && raw.usable_quota !== raw.quota) add("Usable quota (bursting)", raw.usable_quota);
  if ("backend_quota" in raw) add("Quota in the backend", raw.backend_quota);
  add("Usage beyond quota (bursting)", raw.burst_usage);
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
  const reach = (az: AzFigures): number => Math.max(az.capacity ?? 0, az.usage, az.committed);
  const scale = Math.max(...figures.azs.map(reach));
  return (
    <ul class="zones" aria-label={`Availability zones of ${figures.title}`}>
      {figures.azs.map((az) => (
        <li key={az.name}>
          <span>{az.name}</span>
          <Meter {...az} limit={az.capacity} {...{ unit, scale }} limitName={LIMIT_NAMES[level]} />
          <span class="resource-numbers">
            <strong>{format(az.usage, unit)}</strong>
            {az.capacity !== undefined && ` / ${format(az.capacity, unit)}`}
            {az.committed > 0 && <span class="muted"> · {format(az.committed, unit)} committed</span>}
          </span>
        </li>
      ))}
      <Scale most={scale} unit={unit} />
    </ul>
  );
}
