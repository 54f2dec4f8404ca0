// Parts of the dashboard that are loaded when they are first needed. After an upgrade, pages that were open before do not
// find them any more, as their files have other names then: such a page reloads itself, once.
import type { ComponentType } from "preact";
import { lazy } from "preact-iso";
import { isTyped } from "./drafts";

/** Where it is kept when the page last reloaded itself, so that it does not do so again and again. */
const RELOADED = "limes.reloaded";
const PATIENCE = 60_000;

type Heading = "h1" | "h2";

interface Module<Props> {
  default: ComponentType<Props>;
}

/** `heading` is that of a page; parts of pages have a lower one. */
export function lazily<Props>(load: () => Promise<Module<Props>>, heading: Heading = "h1"): ComponentType<Props> {
  return lazy(() => load().catch(() => missing<Props>(heading)));
}

async function missing<Props>(heading: Heading): Promise<Module<Props>> {
  const isNew = await hasNewVersion();
  if (isNew && !isTyped() && mayReload(Number(sessionStorage.getItem(RELOADED)), Date.now())) {
    sessionStorage.setItem(RELOADED, String(Date.now()));
    location.reload();
    return new Promise(() => undefined); // the page goes
  }
  return { default: () => <Missing isNew={isNew} heading={heading} /> };
}

export const mayReload = (last: number, now: number): boolean => now - last > PATIENCE;

/** Whether the server's page is made of other files than this one. */
async function hasNewVersion(): Promise<boolean> {
  try {
    const response = await fetch("/ui", { cache: "no-cache", credentials: "omit" });
    return response.ok && isOther(await response.text(), document.querySelector("script[type=module]")?.getAttribute("src"));
  } catch {
    return false;
  }
}

export const isOther = (page: string, script: string | null | undefined): boolean => !page.includes(`"${script}"`);

function Missing({ isNew, heading: Title }: { isNew: boolean; heading: Heading }) {
  return (
    <div class="empty" role="alert">
      <Title>{isNew ? "A new version is available" : "This part of the dashboard could not be loaded"}</Title>
      <p>{isNew ? "The dashboard was upgraded while this page was open." : "Perhaps the network is slow, or the dashboard is being upgraded."} Reload the page to go on.</p>
      <button onClick={() => location.reload()}>Reload</button>
    </div>
  );
}
