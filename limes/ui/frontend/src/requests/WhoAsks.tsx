// For those who can neither set quota nor ask for it: who can.
import { levelOf, type Place } from "../lib/paths";
import { useNeedsOthers } from "../session/rights";
import { WhoDecides } from "./WhoDecides";

export function WhoAsks({ at }: { at: Place }) {
  if (!useNeedsOthers(at)) return null;
  return (
    <p class="lead">
      Do you need more quota? Your role cannot request it here. Ask an admin of the {levelOf(at)}, who can do it on this page. Quota is raised
      by <WhoDecides at={at} />.
    </p>
  );
}
