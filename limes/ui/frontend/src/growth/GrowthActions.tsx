// What can be done where quota grows by itself. The address says which dialog is open, and of which resource.
import { keyOf, type Figures } from "../api/report";
import { useAddress } from "../lib/address";
import { nameOf } from "../lib/names";
import { levelOf, type Place } from "../lib/paths";
import { useRights } from "../session/rights";
import { isStopped } from "./bounds";
import { GrowthDialog, type Kind, TITLES } from "./GrowthDialog";

interface Props {
  figures: Figures;
  place: Place;
  changed: () => void;
}

export function GrowthActions({ figures, place, changed }: Props) {
  const rights = useRights(place);
  const [choices, change] = useAddress();
  const level = levelOf(place);
  if (level === "cloud" || !rights?.[level].limit_growth) return null;
  const kinds: Kind[] =
    level === "domain" ? ["limit-growth", "stop-growth", "allow-growth"] : ["limit-growth", isStopped(figures) ? "allow-growth" : "stop-growth"];
  const open = kinds.find((one) => one === choices.do && choices.of === keyOf(figures));
  return (
    <p class="actions">
      {kinds.map((kind) => (
        <button key={kind} class="small" aria-label={`${TITLES[kind]}: ${figures.title}`} onClick={() => change({ do: kind, of: keyOf(figures) }, true)}>
          {TITLES[kind]}
        </button>
      ))}
      {open && (
        <GrowthDialog
          kind={open}
          place={place}
          name={nameOf(place.project ?? place.domain ?? "")}
          figures={figures}
          close={() => change({ do: undefined, of: undefined })}
          changed={changed}
        />
      )}
    </p>
  );
}
