// Zone by zone: what is committed and what is used, side by side, and what is left in the cloud.
import type { Figures } from "../api/report";
import { Meter } from "../components/Meter";
import { Scale } from "../components/Scale";
import { zoneName } from "../lib/names";
import { format } from "../lib/units";
import type { Offer } from "./offers";
import { type Zone, zonesOf } from "./zones";

interface Props {
  offers: Offer[];
  cloud: Map<string, Figures>;
  /** Opens the form to buy, if this user may. */
  buy: ((offer: Offer, zone: string) => void) | undefined;
}

export function ZoneBars({ offers, cloud, buy }: Props) {
  const services = [...new Set(offers.map((one) => one.service))];
  return (
    <>
      {services.map((service) => (
        <article key={service} class="card" aria-label={`Commitments and usage of ${service}`}>
          <header class="card-head">
            <h2>{service}</h2>
            <ul class="legend" aria-label="Colours of the bars">
              <li data-part="usage">used</li>
              <li data-part="committed">committed</li>
              {cloud.size > 0 && <li data-part="claimed">claimed in the cloud</li>}
            </ul>
          </header>
          {offers
            .filter((one) => one.service === service)
            .map((one) => (
              <Resource key={one.key} offer={one} zones={zonesOf(one, cloud.get(one.key))} buy={buy} />
            ))}
        </article>
      ))}
    </>
  );
}

function Resource({ offer, zones, buy }: { offer: Offer; zones: Zone[]; buy: Props["buy"] }) {
  const scale = Math.max(...zones.map((one) => Math.max(one.usage, one.committed)));
  return (
    <section class="zone-group" aria-label={offer.title}>
      <h3>{offer.title}</h3>
      <ul class="zone-bars">
        {zones.map((one) => (
          <li key={one.name}>
            <span>{zoneName(one.name)}</span>
            <Meter usage={one.usage} limit={undefined} committed={one.committed} unit={offer.unit} limitName="" scale={scale} />
            <span class="zone-numbers">
              <Numbers zone={one} unit={offer.unit} />
            </span>
            <span class="zone-free">
              <Free zone={one} unit={offer.unit} />
            </span>
            {buy && offer.zones.includes(one.name) && one.capacity !== 0 && (
              <button class="small" aria-label={`Commit to ${offer.title} in ${zoneName(one.name)}`} onClick={() => buy(offer, one.name)}>
                Commit
              </button>
            )}
          </li>
        ))}
        <Scale most={scale} unit={offer.unit} />
      </ul>
    </section>
  );
}

function Numbers({ zone, unit }: { zone: Zone; unit: string }) {
  return (
    <>
      <strong>{format(zone.committed, unit)}</strong> committed, <strong>{format(zone.usage, unit)}</strong> used
      {zone.pending > 0 && `, ${format(zone.pending, unit)} waiting`}
      {zone.planned > 0 && `, ${format(zone.planned, unit)} planned`}
    </>
  );
}

function Free({ zone, unit }: { zone: Zone; unit: string }) {
  if (zone.capacity === 0) return <span class="muted">No capacity in this zone</span>;
  if (zone.free === undefined || zone.capacity === undefined) return null;
  return (
    <>
      <Meter usage={zone.capacity - zone.free} limit={zone.capacity} unit={unit} limitName="capacity of the cloud" />
      <span class="muted">
        {format(zone.free, unit)} of {format(zone.capacity, unit)} free
      </span>
    </>
  );
}
