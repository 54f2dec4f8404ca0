// Actions where quota grows by itself. The address says which dialog is open, and for which resource.
import { keyOf, type Figures } from "../api/report";
import { useAddress } from "../lib/address";
import { nameOf } from "../lib/names";
import { type Level, levelOf, type Place } from "../lib/paths";
import { useRights } from "../session/rights";
import { isStopped } from "./bounds";
import { GrowthDialog, type Kind, TITLES } from "./GrowthDialog";

function kindsOf(level: Level, figures: Figures): Kind[] {
  if (level === "domain") return ["limit-growth", "stop-growth", "allow-growth"]; // its projects differ
  return ["limit-growth", isStopped(figures) ? "allow-growth" : "stop-growth"];
}

function useMayLimit(place: Place): boolean {
  const rights = useRights(place);
  const level = levelOf(place);
  return level !== "cloud" && (rights?.[level].limit_growth ?? false);
}

export function GrowthActions({ figures, place }: { figures: Figures; place: Place }) {
  const [, change] = useAddress();
  if (!useMayLimit(place)) return null;
  return (
    <div class="actions">
      {kindsOf(levelOf(place), figures).map((kind) => (
        <button key={kind} class="small" aria-label={`${TITLES[kind]}: ${figures.title}`} onClick={() => change({ do: kind, of: keyOf(figures) }, true)}>
          {TITLES[kind]}
        </button>
      ))}
    </div>
  );
}

interface Props {
  all: Figures[];
  place: Place;
  changed: () => void;
}

/** The dialog that is open, if any. */
export function OpenGrowthDialog({ all, place, changed }: Props) {
  const [choices, change] = useAddress();
  const mayLimit = useMayLimit(place);
  const figures = all.find((one) => one.grows && keyOf(one) === choices.of);
  const kind = figures && kindsOf(levelOf(place), figures).find((one) => one === choices.do);
  if (!mayLimit || !figures || !kind) return null;
  const close = (): void => change({ do: undefined, of: undefined });
  return <GrowthDialog {...{ kind, place, figures, close, changed }} name={nameOf(place.project ?? place.domain ?? "")} />;
}
