// All resources of a report: areas, services in them, and a bar for each resource.
import type { Figures, ServiceFigures } from "../api/report";
import type { Level, Place } from "../lib/paths";
import { shareOf, stateOf } from "../lib/state";
import { readable } from "../lib/messages";
import { relative } from "../lib/time";
import { Resource } from "./Resource";

/** What of a report is shown. */
export const SHOWN = { "": "Everything", used: "In use", full: "Above 80 %", failing: "Failing services" };
export type Shown = keyof typeof SHOWN;

const IS_SHOWN: Record<Shown, (one: Figures) => boolean> = {
  "": () => true,
  used: (one) => one.usage > 0 || one.committed > 0,
  full: (one) => stateOf(one.usage, one.limit) !== "ok",
  failing: () => true,
};

const fullness = (one: Figures): number => shareOf(one.usage, one.limit);
const fullest = (one: ServiceFigures): number => Math.max(0, ...one.resources.map(fullness));

/** The services with the resources whose names contain `wanted`, and of these those to be shown, the fullest first; and
 * services without figures, with the reason. */
export function selected(services: ServiceFigures[], wanted: string, shown: Shown): ServiceFigures[] {
  const text = wanted.trim().toLowerCase();
  const isMissing = (one: ServiceFigures): boolean => one.scrapedAt === undefined && one.problem !== undefined && one.type.includes(text);
  return services
    .filter((one) => shown !== "failing" || one.problem !== undefined)
    .map((service) => ({
      ...service,
      resources: service.resources
        .filter(
          (one) =>
            IS_SHOWN[shown](one) &&
            [service.type, service.area, one.name, one.title, one.category ?? ""].some((part) => part.toLowerCase().includes(text)),
        )
        .toSorted((one, other) => fullness(other) - fullness(one)),
    }))
    .filter((service) => service.resources.length > 0 || (shown !== "full" && isMissing(service)))
    .toSorted((one, other) => fullest(other) - fullest(one));
}

interface Props {
  services: ServiceFigures[];
  level: Level;
  place: Place;
}

export function Services({ services, level, place }: Props) {
  const areas = [...new Set(services.map((one) => one.area))]; // as their fullest services are
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
                {one.problem && <p class="problem-note">{readable(one.problem)}</p>}
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
