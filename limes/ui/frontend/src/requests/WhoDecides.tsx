// Who can decide on a request, or give quota here: by name, or at least by role.
import { loadDeciders } from "../api/requests";
import { useLoad } from "../lib/load";
import type { Place } from "../lib/paths";
import { decidersText } from "./words";

/** Nothing is shown until it is known. The page does not need it, so it goes on if it cannot be asked for. */
export function WhoDecides({ at, id, version }: { at: Place; id?: number; version?: unknown }) {
  const found = useLoad((signal) => loadDeciders(at, id, signal), [at, id, version]);
  if (found.error) return <span class="muted">not known now: {found.error.message}</span>;
  if (!found.data) return null;
  const { problem } = found.data;
  return (
    <span class="deciders">
      {decidersText(found.data)}
      {problem && <span class="muted"> (names are not known now: {problem})</span>}
    </span>
  );
}
