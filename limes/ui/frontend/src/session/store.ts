// Who is signed in. The token lives here, in memory, and nowhere else where a script could find it: over a reload it
// is kept by a cookie that only the server reads (limes/ui/session.py).
import { computed, signal } from "@preact/signals";
import type { Offer, Scope, Session } from "./types";

export const session = signal<Session | null>(null);
/** What an unscoped session can become. */
export const scopes = signal<Scope[]>([]);
export const offer = signal<Offer | null>(null);
export const cloudTitle = signal("Limes");
/** Why one has to sign in again. */
export const message = signal("");
/** What was wrong when one came back from a provider. */
export const arrivalProblem = signal("");
export const seesCloud = signal<boolean | undefined>(undefined);

export const isSignedIn = computed(() => session.value !== null && session.value.scope !== null);

/** The API does not take the token any more. The page stays, so that one returns to it. */
export function sessionEnded(): void {
  session.value = null;
  message.value = "Your session has ended. Sign in again to continue where you left off.";
}
