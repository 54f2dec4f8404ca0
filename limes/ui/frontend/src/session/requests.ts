// Signing in and out, and choosing a scope: what /ui/session is asked, and what the answers change in the store.
import { answered, ApiError, send } from "../api/client";
import { mayForget } from "../lib/drafts";
import { learnResources } from "./resources";
import { forgetRights, learnRights } from "./rights";
import { answerAt, here, takePosted } from "./arrival";
import { firstAnswer } from "./start";
import { arrivalProblem, cloudTitle, isSignedIn, message, offer, scopes, seesCloud, session } from "./store";
import type { Credentials, ProviderAnswer, Scope, SessionAnswer } from "./types";

async function ask(method: string, path = "", body?: Credentials): Promise<Response> {
  const token = session.value?.token;
  const answer = send(`/ui/session${path}`, {
    method,
    headers: {
      "X-Limes-Dashboard": "1",
      ...(token ? { "X-Auth-Token": token } : {}),
      ...(body ? { "Content-Type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return succeeded(answer);
}

async function succeeded(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  if (!response.ok) throw new ApiError(response.status, await response.text());
  return response;
}

async function accept(answer: SessionAnswer): Promise<void> {
  session.value = answer.session;
  scopes.value = answer.scopes ?? [];
  if (answer.session) arrivalProblem.value = "";
  seesCloud.value = undefined;
  forgetRights();
  if (isSignedIn.value) {
    message.value = "";
    const [rights] = await Promise.all([learnRights({}).catch(() => undefined), learnResources().catch(() => undefined)]);
    seesCloud.value = rights?.cloud.list_domains ?? false;
  }
}

/** Finds out at the start who is there, or has just come back from a provider. */
export async function restore(): Promise<void> {
  const arrived = answerAt(location.pathname, location.search);
  const posted = takePosted(document);
  if (arrived) history.replaceState(null, "", "/ui"); // a code is for nobody's history
  const answer = (await (await succeeded(answered(firstAnswer))).json()) as SessionAnswer;
  offer.value = answer.sign_in ?? null;
  cloudTitle.value = answer.title ?? "Limes";
  if (!arrived) return accept(answer);
  if (posted?.problem) arrivalProblem.value = posted.problem;
  else if (await arrive({ ...arrived, ...(posted?.token ? { token: posted.token } : {}) })) return;
  await accept({ ...answer, session: null }); // what was wrong comes first; a session that there is stays for other pages
}

/** Whether the answer signs in. */
async function arrive(answer: ProviderAnswer): Promise<boolean> {
  try {
    const entered = (await (await ask("POST", "", answer)).json()) as SessionAnswer;
    history.replaceState(null, "", entered.return_to ?? "/ui");
    await accept(entered);
    return true;
  } catch (error) {
    arrivalProblem.value = (error as Error).message;
    return false;
  }
}

/** Leaves for a provider. Returns whether the page goes. */
export async function leaveFor(provider: string): Promise<boolean> {
  if (!mayForget()) return false;
  const path = `/with/${encodeURIComponent(provider)}?return_to=${encodeURIComponent(here())}`;
  const { continue_at } = (await (await ask("POST", path)).json()) as { continue_at: string };
  location.assign(continue_at);
  return true;
}

export async function signIn(credentials: Credentials): Promise<void> {
  await accept((await (await ask("POST", "", credentials)).json()) as SessionAnswer);
}

export async function otherScopes(): Promise<Scope[]> {
  return ((await (await ask("GET", "/scopes")).json()) as { scopes: Scope[] }).scopes;
}

export async function signOut(): Promise<void> {
  const before = session.value;
  try {
    if (!before?.is_ours) session.value = null; // a token that the user brought along is theirs to revoke
    const answer = await ask("DELETE");
    // the provider has a session of its own
    if (answer.status === 200) location.assign(((await answer.json()) as { continue_at: string }).continue_at);
  } finally {
    session.value = null;
    message.value = "You have signed out.";
  }
}
