// Short messages on what was done. A live region reads them out (layout/Notices.tsx).
import { signal } from "@preact/signals";

export interface Notice {
  id: number;
  tone: "good" | "warning";
  text: string;
}

export const notices = signal<Notice[]>([]);
let next = 1;

export function notify(text: string, tone: Notice["tone"] = "good"): void {
  const id = next++;
  notices.value = [...notices.value, { id, tone, text }];
  if (tone === "good") setTimeout(() => dismiss(id), 6000);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((one) => one.id !== id);
}
