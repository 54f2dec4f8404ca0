// Which commitments of a list are shown.
import type { Commitment } from "../api/schema";

export interface Filter {
  resource: string;
  zone: string;
  status: string;
  text: string;
}

export const resourceOf = (one: Commitment): string => `${one.service_type}/${one.resource_name}`;

export function filtered(all: Commitment[], { resource, zone, status, text }: Filter): Commitment[] {
  const wanted = text.trim().toLowerCase();
  return all.filter(
    (one) =>
      (!resource || resourceOf(one) === resource) &&
      (!zone || one.availability_zone === zone) &&
      (!status || (status === "offered" ? one.transferable : one.status === status)) &&
      (!wanted ||
        [String(one.id), one.uuid, one.creator_name ?? "", resourceOf(one), one.duration].some((part) => part.toLowerCase().includes(wanted))),
  );
}

/** The values that occur, in their order. */
export function occurring(all: Commitment[], value: (one: Commitment) => string): string[] {
  return [...new Set(all.map(value))].sort();
}
