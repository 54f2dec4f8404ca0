// Short messages on what was done. A live region reads them out (layout/Notices.tsx).
import { signal } from "@preact/signals";

export interface Notice {
  id: number;
  tone: "good" | "warning";
  text: string;
}

export const notices = signal<Notice[]>([]);
let next = 1;

/** Good news goes away by itself, but not before the user has seen it: some seconds after the next key or click. */
export function notify(text: string, tone: Notice["tone"] = "good"): void {
  const id = next++;
  notices.value = [...notices.value, { id, tone, text }];
  if (tone === "good") onceActive(() => setTimeout(() => dismiss(id), 6000));
}

const ACTIVITIES = ["pointerdown", "keydown"] as const;

function onceActive(work: () => void): void {
  const seen = new AbortController();
  const first = (): void => {
    seen.abort();
    work();
  };
  for (const kind of ACTIVITIES) document.addEventListener(kind, first, { capture: true, signal: seen.signal });
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((one) => one.id !== id);
}
