// All that the page of a project's commitments shows, in as few requests as can be.
import { listCommitments } from "../api/commitments";
import { keyOf, loadReport, type Figures } from "../api/report";
import type { Commitment } from "../api/schema";
import type { Place } from "../lib/paths";
import { offersOf, type Offer } from "./offers";

export interface Overview {
  name: string;
  offers: Offer[];
  /** With those that have ended. */
  commitments: Commitment[];
  /** The resources of the whole cloud, by `keyOf`; empty where this user does not see them. */
  cloud: Map<string, Figures>;
}

export async function loadOverview(at: Place, signal?: AbortSignal): Promise<Overview> {
  const [report, cloud, commitments] = await Promise.all([
    loadReport(at, signal),
    loadReport({}, signal).catch(() => undefined),
    listCommitments(at, signal),
  ]);
  const resources = (cloud?.services ?? []).flatMap((one) => one.resources);
  return { name: report.name, offers: offersOf(report), commitments, cloud: new Map(resources.map((one) => [keyOf(one), one])) };
}
