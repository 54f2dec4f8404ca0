// What a commitment is, in words: people know theirs by what it is of, not by its number.
import type { Commitment } from "../api/schema";
import { zoneName } from "../lib/names";
import { formatDate } from "../lib/time";
import { resourceTitle } from "../session/resources";
import { format } from "../lib/units";

type Content = Pick<Commitment, "service_type" | "resource_name" | "amount" | "unit">;
type Placed = Content & Pick<Commitment, "availability_zone">;

export const titleOf = (one: Pick<Content, "service_type" | "resource_name">): string => resourceTitle(one.service_type, one.resource_name);

/** `20 cores`, `200 GiB ram` */
export const contentOf = (one: Content): string => `${format(one.amount, one.unit)} ${titleOf(one)}`;

/** `20 cores in az-one` */
export const whatOf = (one: Placed): string => `${contentOf(one)} in ${zoneName(one.availability_zone)}`;

/** `20 cores in az-one, until 3 May 2027` */
export const inFull = (one: Placed & Pick<Commitment, "expires_at">): string => `${whatOf(one)}, until ${formatDate(one.expires_at)}`;

/** When it starts to count: when it was confirmed, or is to be. */
export const startOf = (one: Commitment): number => one.confirm_by ?? one.confirmed_at ?? one.created_at;
