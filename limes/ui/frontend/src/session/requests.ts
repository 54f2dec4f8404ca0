// Signing in and out, and choosing a scope: what /ui/session is asked, and what the answers change in the store.
import { ApiError, send } from "../api/client";
import { learnResources } from "./resources";
import { forgetRights, learnRights } from "./rights";
import { cloudTitle, isSignedIn, message, offer, scopes, seesCloud, session } from "./store";
import type { Credentials, Scope, SessionAnswer } from "./types";

async function ask(method: string, path = "", body?: Credentials): Promise<Response> {
  const token = session.value?.token;
  const response = await send(`/ui/session${path}`, {
    method,
    headers: {
      "X-Limes-Dashboard": "1",
      ...(token ? { "X-Auth-Token": token } : {}),
      ...(body ? { "Content-Type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new ApiError(response.status, await response.text());
  return response;
}

async function accept(answer: SessionAnswer): Promise<void> {
  session.value = answer.session;
  scopes.value = answer.scopes ?? [];
  seesCloud.value = undefined;
  forgetRights();
  if (isSignedIn.value) {
    message.value = "";
    const [rights] = await Promise.all([learnRights({}).catch(() => undefined), learnResources().catch(() => undefined)]);
    seesCloud.value = rights?.cloud.list_domains ?? false;
  }
}

/** Finds out at the start who is there. */
export async function restore(): Promise<void> {
  const answer = (await (await ask("GET")).json()) as SessionAnswer;
  offer.value = answer.sign_in ?? null;
  cloudTitle.value = answer.title ?? "Limes";
  await accept(answer);
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
    await ask("DELETE");
  } finally {
    session.value = null;
    message.value = "You have signed out.";
  }
}
