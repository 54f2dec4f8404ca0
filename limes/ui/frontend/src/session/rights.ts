// The rights of the session's token, asked for once for each place.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { loadRights, type Rights } from "../api/rights";
import { type Level, levelOf, pagePath, type Place } from "../lib/paths";
import { placeOf } from "./scope";
import { session } from "./store";

const known = signal<Readonly<Record<string, Rights>>>({});
const asked = new Map<string, Promise<Rights>>();

/** Another token has other rights. */
export function forgetRights(): void {
  known.value = {};
  asked.clear();
}

export function learnRights(at: Place): Promise<Rights> {
  const key = pagePath(at);
  const before = asked.get(key);
  if (before) return before;
  const answer = loadRights(at);
  asked.set(key, answer);
  answer.then(
    (rights) => {
      if (asked.get(key) === answer) known.value = { ...known.value, [key]: rights };
    },
    () => {
      if (asked.get(key) === answer) asked.delete(key); // the next page asks again
    },
  );
  return answer;
}

/** What the user may do at a place; undefined until the API has said it. */
export function useRights(at: Place): Rights | undefined {
  const key = pagePath(at);
  const token = session.value?.token;
  useEffect(() => {
    learnRights(at).catch(() => undefined);
  }, [key, token]);
  return known.value[key];
}

/** Whether the user may ask for more quota of a level, or at least propose to. */
export function mayAsk(rights: Rights, level: Level): boolean {
  return level !== "cloud" && (rights[level].request_quota || (level === "project" && rights.project.propose_quota));
}

/** Whether the user may ask for more quota of the domain or project, or at least propose to. */
export function useMayAsk(at: Place): boolean {
  const rights = useRights(at);
  return rights !== undefined && mayAsk(rights, levelOf(at));
}

/** Whether an admin of the project has to confirm what the user asks for. */
export function useOnlyProposes(at: Place): boolean {
  const rights = useRights(at);
  return useMayAsk(at) && levelOf(at) === "project" && !rights?.project.request_quota;
}

/** Whether the user can neither set nor ask for quota of the scope of the session, and so has to ask someone else. */
export function useNeedsOthers(at: Place): boolean {
  const rights = useRights(at);
  const level = levelOf(at);
  const isOwn = session.value?.scope != null && pagePath(placeOf(session.value.scope)) === pagePath(at);
  return isOwn && level !== "cloud" && rights !== undefined && !rights[level].set_quota && !mayAsk(rights, level);
}

/** Whether asking helps where a quota is refused: those who decide on the quota of domains have nobody to ask. */
export function useAskingHelps(at: Place): boolean {
  const rights = useRights(at);
  return useMayAsk(at) && !rights?.domain.decide_requests;
}

/** Whether that is the only way to more quota, as the user may not raise it. */
export function useMayOnlyAsk(at: Place): boolean {
  const rights = useRights(at);
  const level = levelOf(at);
  return useAskingHelps(at) && level !== "cloud" && !rights?.[level].raise_quota;
}

/** Whether the user may set quotas of the domain or project itself. */
export function useMaySetQuota(at: Place): boolean {
  const rights = useRights(at);
  const level = levelOf(at);
  return level !== "cloud" && (rights?.[level].set_quota ?? false);
}
