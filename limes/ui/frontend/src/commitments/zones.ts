// What a project has committed to and uses, zone by zone, and what is left there.
import type { AzFigures, Figures } from "../api/report";
import type { ClusterResource } from "../api/schema";
import { ANY_ZONE, type Offer } from "./offers";

export interface Zone {
  name: string;
  usage: number;
  committed: number;
  pending: number;
  planned: number;
  /** How much of the cloud's capacity can still be committed to. Undefined where no capacity is known, or none can be bought. */
  free: number | undefined;
  capacity: number | undefined;
}

const NOTHING: Omit<AzFigures, "name"> = { usage: 0, capacity: undefined, committed: 0, pending: 0, planned: 0 };

function sum(azs: AzFigures[], name: string): AzFigures {
  const total = (key: "usage" | "committed" | "pending" | "planned"): number => azs.reduce((before, one) => before + one[key], 0);
  return {
    name,
    usage: total("usage"),
    committed: total("committed"),
    pending: total("pending"),
    planned: total("planned"),
    capacity: azs.some((one) => one.capacity !== undefined) ? azs.reduce((before, one) => before + (one.capacity ?? 0), 0) : undefined,
  };
}

/** The zones of an offer, and others where the project uses something. `cloud` is the same resource of the whole cloud. */
export function zonesOf(offer: Offer, cloud: Figures | undefined): Zone[] {
  const own = offer.figures.azs;
  const isPooled = offer.zones.length === 1 && offer.zones[0] === ANY_ZONE;
  const others = own.filter((one) => !offer.zones.includes(one.name) && (one.usage > 0 || one.committed > 0));
  const names = isPooled ? [ANY_ZONE] : [...offer.zones, ...others.map((one) => one.name)];
  const committable = (cloud?.raw as ClusterResource | undefined)?.committable;
  return names.map((name) => {
    const mine = isPooled ? sum(own, name) : (own.find((one) => one.name === name) ?? { name, ...NOTHING });
    const ours = cloud?.limit === undefined ? undefined : isPooled ? sum(cloud.azs, name) : cloud.azs.find((one) => one.name === name);
    const { usage, committed, pending, planned } = mine;
    return { name, usage, committed, pending, planned, capacity: ours?.capacity, free: committable?.[name] };
  });
}
