// Commitments of the cloud or a domain in sum, and which of them end soon.
import { apiPath, type Place } from "../lib/paths";
import { get } from "./client";
import type { CommitmentSummaryAnswer, EndingCommitment, ExpiringCommitmentsAnswer, ZoneSummary } from "./schema";

export interface Sums {
  zones: ZoneSummary[];
  /** The first to end first. */
  ending: EndingCommitment[];
  /** The number of all of these; `ending` has some. */
  endingCount: number;
}

const MOST = 500;
const path = (at: Place, name: string): string => (at.domain ? apiPath(at, `/${name}`) : `/v1/${name}`);

/** What is committed to at a place, and what of it ends within a number of days. */
export async function loadSums(at: Place, days: string, signal?: AbortSignal): Promise<Sums> {
  const [{ commitment_summary: zones }, { expiring_commitments: ending, total: endingCount }] = await Promise.all([
    get<CommitmentSummaryAnswer>(path(at, "commitment-summary"), { query: { days }, signal }),
    get<ExpiringCommitmentsAnswer>(path(at, "expiring-commitments"), { query: { days, limit: MOST }, signal }),
  ]);
  return { zones, ending, endingCount };
}
