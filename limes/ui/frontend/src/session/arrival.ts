// Coming back from a provider of single sign-on: to /ui/sign-in/{id}, with an answer in the address (OpenID Connect) or in
// the page (what Keystone has posted, which limes/ui/pages.py has put there).
import type { ProviderAnswer } from "./types";

const ANSWERS = /^\/ui\/sign-in\/([^/]+)$/;
const PARTS = ["code", "state", "iss", "error"] as const;

export interface Posted {
  provider: string;
  token?: string;
  problem?: string;
}

/** The answer at an address; undefined if it is none of those that people come back to. */
export function answerAt(path: string, search: string): ProviderAnswer | undefined {
  const provider = ANSWERS.exec(path)?.[1];
  if (provider === undefined) return undefined;
  const query = new URLSearchParams(search);
  const answer: ProviderAnswer = { method: "provider", provider: decodeURIComponent(provider) };
  for (const part of PARTS) {
    const value = query.get(part);
    if (value) answer[part] = value;
  }
  return answer;
}

/** What was posted, which is gone from the page then. */
export function takePosted(page: Document): Posted | undefined {
  const element = page.querySelector<HTMLMetaElement>("meta[name=limes-sign-in]");
  element?.remove();
  return element ? (JSON.parse(element.content) as Posted) : undefined;
}

/** Where to return to after a sign-in that begins here. */
export const here = (): string => (ANSWERS.test(location.pathname) ? "/ui" : location.pathname + location.search);
