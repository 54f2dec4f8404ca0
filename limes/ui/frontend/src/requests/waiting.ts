// The number of requests that wait for the user.
import { countRequests } from "../api/requests";
import { levelOf, type Place } from "../lib/paths";
import { polled } from "../lib/polled";
import { useRights } from "../session/rights";
import { WAITING } from "./shown";

const waiting = polled((at) => countRequests(at, at.domain ? WAITING.domain : WAITING.cloud), ({ domain }) => domain ?? "cloud");

/** Whether the user decides on what waits at this level. */
export function useMayDecide(at: Place): boolean {
  const rights = useRights({ domain: at.domain });
  const level = levelOf(at);
  if (!rights || level === "project") return false;
  return level === "cloud" ? rights.cloud.list_requests && rights.domain.decide_requests : rights.domain.show_requests && rights.project.decide_requests;
}

/** Zero where the user does not decide, and without a place. */
export function useWaiting(at: Place | undefined): number {
  const mayDecide = useMayDecide(at ?? {});
  return waiting.use(at && mayDecide ? { domain: at.domain } : undefined) ?? 0;
}

/** What counts again after a decision, where it may be one for both levels. */
export function useRecount({ domain }: Place): () => void {
  const ofCloud = useMayDecide({});
  const ofDomain = useMayDecide({ domain });
  return () => {
    if (ofCloud) waiting.refresh({});
    if (domain && ofDomain) waiting.refresh({ domain });
  };
}
