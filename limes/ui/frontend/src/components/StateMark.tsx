// How urgent something is, for those who see no colours, too: each state has a shape of its own.
import type { State } from "../lib/state";

const SHAPES: Record<State, preact.JSX.Element> = {
  ok: <path d="M3.5 8.5 6.5 11.5 12.5 4.5" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" />,
  high: <path d="M8 2.5 14.5 13.5H1.5Z" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linejoin="round" />,
  critical: <path d="M8 2 15 14H1Z" fill="currentColor" />,
  over: <path d="M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5Z" fill="currentColor" />,
};

export function StateIcon({ state }: { state: State }) {
  return (
    <svg class="state-icon" data-state={state} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {SHAPES[state]}
    </svg>
  );
}

/** The icon with its words. */
export function StateMark({ state, text }: { state: State; text: string }) {
  if (state === "ok") return null;
  return (
    <span class="state-mark" data-state={state}>
      <StateIcon state={state} /> {text}
    </span>
  );
}
