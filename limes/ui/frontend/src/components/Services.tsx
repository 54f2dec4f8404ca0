// All resources of a report: areas, services in them, and a bar for each resource.
import type { Figures, ServiceFigures } from "../api/report";
import type { Level } from "../lib/paths";
import { relative } from "../lib/time";
import { format, percent } from "../lib/units";
import { Meter } from "./Meter";

export const LIMIT_NAMES: Record<Level, string> = { cloud: "capacity", domain: "quota", project: "quota" };

export function Services({ services, level }: { services: ServiceFigures[]; level: Level }) {
  const areas = [...new Set(services.map((one) => one.area))].sort();
  return (
    <>
      {areas.map((area) => (
        <section key={area} class="area" aria-label={area}>
          {services
            .filter((one) => one.area === area)
            .map((one) => (
              <Service key={one.type} service={one} level={level} />
            ))}
        </section>
      ))}
    </>
  );
}

function Service({ service, level }: { service: ServiceFigures; level: Level }) {
  return (
    <article class="card">
      <header class="card-head">
        <h2>
          {service.type} {service.area !== service.type && <small>{service.area}</small>}
        </h2>
        {service.scrapedAt !== undefined && (
          <span class={service.isStale ? "tag warning" : "muted"}>
            {service.isStale ? "old figures: " : "figures from "}
            {relative(service.scrapedAt)}
          </span>
        )}
      </header>
      {service.resources.map((one) => (
        <Resource key={one.name} figures={one} level={level} />
      ))}
    </article>
  );
}

function Resource({ figures, level }: { figures: Figures; level: Level }) {
  const { usage, limit, unit, committed, distributed } = figures;
  const limitName = LIMIT_NAMES[level];
  return (
    <div class="resource">
      <div class="resource-name">{figures.title}</div>
      <Meter {...{ usage, limit, unit, committed, distributed, limitName }} />
      <div class="resource-numbers">
        <strong>{format(usage, unit)}</strong>
        {limit !== undefined && (
          <>
            {" "}
            / {format(limit, unit)} <span class="muted">{percent(usage, limit)}</span>
          </>
        )}
      </div>
    </div>
  );
}
