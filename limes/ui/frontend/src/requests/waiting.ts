// The number of requests that wait for the user.
import { countRequests } from "../api/requests";
import type { Rights } from "../api/rights";
import { type Level, levelOf, type Place } from "../lib/paths";
import { polled } from "../lib/polled";
import { useRights } from "../session/rights";
import { WAITING } from "./shown";

const waiting = polled((at) => countRequests(at, WAITING[levelOf(at)]));

const DECIDES: Record<Level, (rights: Rights) => boolean> = {
  cloud: ({ cloud, domain }) => cloud.list_requests && domain.decide_requests,
  domain: ({ domain, project }) => domain.show_requests && project.decide_requests,
  project: ({ project }) => project.show_requests && project.request_quota,
};

/** Whether what waits at this level waits for this user; in a project, for those who confirm proposals. */
export const decidesAt = (rights: Rights, at: Place): boolean => DECIDES[levelOf(at)](rights);

export function useMayDecide(at: Place): boolean {
  const rights = useRights(at);
  return rights !== undefined && decidesAt(rights, at);
}

/** Zero where the user does not decide, and without a place. */
export function useWaiting(at: Place | undefined): number {
  const mayDecide = useMayDecide(at ?? {});
  return waiting.use(at && mayDecide ? at : undefined) ?? 0;
}

/** What counts again after a decision, where it may be one for several levels. */
export function useRecount({ domain, project }: Place): () => void {
  const ofCloud = useMayDecide({});
  const ofDomain = useMayDecide({ domain });
  const ofProject = useMayDecide({ domain, project });
  return () => {
    if (ofCloud) waiting.refresh({});
    if (domain && ofDomain) waiting.refresh({ domain });
    if (domain && project && ofProject) waiting.refresh({ domain, project });
  };
}
