// What has been filled into the form of a new commitment, read.
import type { Wanted } from "../api/commitments";
import type { Commitment } from "../api/schema";
import { secondsOf } from "../lib/time";
import { parse } from "../lib/units";
import { usualDuration } from "./durations";
import type { Offer } from "./offers";

export interface Purchase {
  resource: string;
  zone: string;
  duration: string;
  amount: string;
  /** Of an input of type datetime-local, so in the browser's time zone; empty for at once. */
  confirmBy: string;
  renews: boolean;
}

/** Choices that an offer does not have are replaced by its first zone, and by the duration that `usualDuration` says. */
export function fitting(purchase: Purchase, offer: Offer, commitments: Commitment[]): Purchase {
  return {
    ...purchase,
    resource: offer.key,
    zone: offer.zones.includes(purchase.zone) ? purchase.zone : (offer.zones[0] ?? ""),
    duration: offer.durations.includes(purchase.duration) ? purchase.duration : usualDuration(offer.durations, offer.key, commitments),
  };
}

/** What to ask the API for, or what cannot be read. Neither, as long as no amount is there. */
export function readPurchase(purchase: Purchase, offer: Offer): { wanted?: Wanted; problem?: string } {
  if (!purchase.amount.trim()) return {};
  const { amount, problem } = parse(purchase.amount, offer.unit);
  if (amount === undefined) return { problem };
  if (amount === 0) return { problem: "Must be more than zero" };
  const confirmBy = purchase.confirmBy ? secondsOf(purchase.confirmBy) : undefined;
  if (purchase.confirmBy && confirmBy === undefined) return { problem: "Choose a date and a time" };
  return {
    wanted: {
      service_type: offer.service,
      resource_name: offer.resource,
      availability_zone: purchase.zone,
      amount,
      duration: purchase.duration,
      ...(confirmBy === undefined ? {} : { confirm_by: confirmBy }),
      ...(purchase.renews ? { auto_renew: true } : {}),
    },
  };
}
