// One request that changes something: busy meanwhile, and what the API refuses is kept in its words.
import { useState } from "preact/hooks";
import { ApiError } from "../api/client";

export interface Submit {
  isBusy: boolean;
  problem: string;
  run: (work: () => Promise<void>) => Promise<void>;
}

const FORBIDDEN = /^Forbidden(?:: this needs (.+))?$/;

/** What the API says of the roles that a refused request needs; undefined for another error. */
export function neededRoles(error: Error): { roles: string | undefined } | undefined {
  const found = error instanceof ApiError && error.status === 403 ? FORBIDDEN.exec(error.message) : null;
  return found ? { roles: found[1] } : undefined;
}

export function inWords(error: Error): string {
  const needed = neededRoles(error);
  if (!needed) return error.message;
  return needed.roles ? `Your role does not allow that: it needs ${needed.roles}.` : "Your role does not allow that.";
}

export function useSubmit(): Submit {
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState("");
  async function run(work: () => Promise<void>): Promise<void> {
    setIsBusy(true);
    setProblem("");
    try {
      await work();
    } catch (error) {
      setProblem(inWords(error as Error));
    } finally {
      setIsBusy(false);
    }
  }
  return { isBusy, problem, run };
}

/** An idempotency key. `crypto.randomUUID` is missing where the page comes without TLS. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
}
