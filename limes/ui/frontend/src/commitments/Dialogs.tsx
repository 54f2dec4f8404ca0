// The dialogs of the page; the address says which one is open, so that a link leads to it and Back closes it.
import { useEffect, useRef } from "preact/hooks";
import type { ProjectRights } from "../api/rights";
import type { Commitment } from "../api/schema";
import { Dialog } from "../components/Dialog";
import { useAddress } from "../lib/address";
import { notify } from "../lib/notices";
import type { Place } from "../lib/paths";
import { formatTime } from "../lib/time";
import { BuyForm } from "./BuyForm";
import { ManageDialog } from "./ManageDialog";
import { MergeForm } from "./MergeForm";
import { TakeForm } from "./TakeForm";
import type { Overview } from "./offers";
import { inFull, startOf, whatOf } from "./wording";

interface Props {
  at: Place;
  overview: Overview;
  rights: ProjectRights;
  reload: () => void;
}

const CLOSED = { do: undefined, id: undefined, act: undefined, ids: undefined, of: undefined, az: undefined, amount: undefined };

export function Dialogs({ at, overview, rights, reload }: Props) {
  const [choices, change] = useAddress();
  const { commitments, offers } = overview;
  const opened = useOpened(commitments, choices.do === "manage" ? Number(choices.id) : undefined);
  const isChanged = useRef(false);

  function close(): void {
    change(CLOSED);
    if (isChanged.current) reload();
    isChanged.current = false;
  }
  function done(text: string, stays = false): void {
    notify(text);
    isChanged.current = true;
    if (!stays) close();
  }

  if (choices.do === "buy" && rights.buy_commitments && offers.length > 0) {
    const { of: resource = "", az: zone = "", amount = "" } = choices;
    return (
      <Dialog title="Buy a commitment" close={close}>
        <BuyForm at={at} offers={offers} commitments={commitments} proposal={{ resource, zone, amount }} bought={(one) => done(boughtText(one))} />
      </Dialog>
    );
  }
  if (choices.do === "take" && rights.move_commitments) {
    const taken = (one: Commitment): void => done(`Now this project's: ${inFull(one)}.`);
    return (
      <Dialog title="Accept a transfer" close={close}>
        <TakeForm at={at} taken={taken} />
      </Dialog>
    );
  }
  if (choices.do === "merge" && rights.change_commitments) {
    const ids = new Set((choices.ids ?? "").split(",").map(Number));
    return (
      <Dialog title="Merge commitments" close={close}>
        <MergeForm at={at} chosen={commitments.filter((one) => ids.has(one.id))} done={done} />
      </Dialog>
    );
  }
  if (choices.do !== "manage") return null;
  if (!opened) {
    return (
      <Dialog title="No such commitment" close={close}>
        <p>This project has no commitment with the number {choices.id}. Perhaps it was given away or deleted, or has ended long ago.</p>
      </Dialog>
    );
  }
  return <ManageDialog key={opened.id} {...{ at, offers, rights, done, close }} commitment={opened} />;
}

/** The commitment of the dialog. It stays while the dialog is open, even if others have taken its place meanwhile. */
function useOpened(commitments: Commitment[], id: number | undefined): Commitment | undefined {
  const last = useRef<Commitment | undefined>(undefined);
  const found = id === undefined ? undefined : (commitments.find((one) => one.id === id) ?? (last.current?.id === id ? last.current : undefined));
  useEffect(() => {
    last.current = found;
  }, [found]);
  return found;
}

function boughtText(one: Commitment): string {
  if (one.status === "confirmed") return `Bought: ${inFull(one)}.`;
  return one.status === "planned" ? `Planned: ${whatOf(one)}, from ${formatTime(startOf(one))}.` : `Waiting for capacity: ${whatOf(one)}.`;
}
