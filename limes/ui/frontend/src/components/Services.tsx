// All resources of a report: areas, services in them, and a bar for each resource.
import type { ServiceFigures } from "../api/report";
import type { Level, Place } from "../lib/paths";
import { relative } from "../lib/time";
import { Resource } from "./Resource";

/** The services with the resources whose names contain `wanted`, and perhaps only those in use; and services of which
 * nothing is known, with the reason. */
export function selected(services: ServiceFigures[], wanted: string, hidesEmpty: boolean): ServiceFigures[] {
  const text = wanted.trim().toLowerCase();
  return services
    .map((service) => ({
      ...service,
      resources: service.resources.filter(
        (one) =>
          (!hidesEmpty || one.usage > 0 || one.committed > 0) &&
          [service.type, service.area, one.name, one.title, one.category ?? ""].some((part) => part.toLowerCase().includes(text)),
      ),
    }))
    .filter((service) => service.resources.length > 0 || (service.scrapedAt === undefined && service.problem && service.type.includes(text)));
}

interface Props {
  services: ServiceFigures[];
  level: Level;
  place: Place;
}

export function Services({ services, level, place }: Props) {
  const areas = [...new Set(services.map((one) => one.area))].sort();
  return (
    <>
      {areas.map((area) => (
        <section key={area} aria-label={area}>
          {services
            .filter((one) => one.area === area)
            .map((one) => (
              <article key={one.type} class="card">
                <header class="card-head">
                  <h2>
                    {one.type} {one.area !== one.type && <small>{one.area}</small>}
                  </h2>
                  <Age service={one} />
                </header>
                {one.problem && <p class="problem-note">{one.problem}</p>}
                {one.resources.map((resource) => (
                  <Resource key={resource.name} figures={resource} level={level} place={place} />
                ))}
              </article>
            ))}
        </section>
      ))}
    </>
  );
}

function Age({ service }: { service: ServiceFigures }) {
  if (service.scrapedAt === undefined) return <span class="tag warning">not looked at yet</span>;
  const age = relative(service.scrapedAt);
  return service.isStale ? <span class="tag warning">old figures: {age}</span> : <span class="muted">figures from {age}</span>;
}
