// Offers a commitment, or a part of it, to another project. The token is shown here, once.
import { useState } from "preact/hooks";
import { type Publicity, startTransfer } from "../api/commitments";
import type { Commitment } from "../api/schema";
import { CopyField } from "../components/CopyField";
import { Commands } from "../commands/Commands";
import { offering } from "../commands/commitments";
import { Field } from "../components/Field";
import { useDraft } from "../lib/drafts";
import { useSubmit } from "../lib/submit";
import { format, formatExact, parse } from "../lib/units";
import type { ActionProps } from "./rules";
import { whatOf } from "./wording";

const PUBLICITY: [Publicity, string][] = [
  ["unlisted", "Only for people to whom I give the token"],
  ["public", "For everybody: listed in public, with its token"],
];

export function TransferForm({ at, commitment, done }: ActionProps) {
  const { unit, amount: whole } = commitment;
  const [text, setText] = useDraft(`part of ${commitment.id}`, formatExact(whole, unit));
  const [publicity, setPublicity] = useState<Publicity>("unlisted");
  const [offered, setOffered] = useState<Commitment>();
  const { isBusy, problem, run } = useSubmit();
  const { amount, problem: unreadable } = readPart(text, whole, unit);
  if (offered) return <Offered commitment={offered} />;

  async function start(): Promise<void> {
    const marked = await startTransfer(at, commitment.id, amount!, publicity);
    setOffered(marked);
    setText(formatExact(whole, unit)); // nothing is half-filled any more
    done(`Ready for transfer: ${whatOf(marked)}.`, true);
  }

  return (
    <form
      class="stack part"
      onSubmit={(event) => {
        event.preventDefault();
        if (amount !== undefined && !isBusy) void run(start);
      }}
    >
      <Field
        label="How much of it"
        name="transfer-amount"
        value={text}
        autocomplete="off"
        isInvalid={unreadable !== undefined}
        hint={unreadable ?? (amount! < whole ? `It is split: ${format(whole - amount!, unit)} stay here.` : "All of it.")}
        onInput={setText}
      />
      <fieldset class="when">
        <legend>Who may take it</legend>
        {PUBLICITY.map(([value, title]) => (
          <label key={value} class="check">
            <input type="radio" name="publicity" checked={publicity === value} onChange={() => setPublicity(value)} />
            {title}
          </label>
        ))}
      </fieldset>
      <Commands of={amount === undefined ? undefined : offering(at, commitment, amount, publicity)} />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <footer class="dialog-foot">
        <button class="primary" disabled={amount === undefined || isBusy}>
          Start the transfer
        </button>
      </footer>
    </form>
  );
}

function readPart(text: string, whole: number, unit: string | undefined): ReturnType<typeof parse> {
  const part = parse(text, unit);
  if (part.amount === 0) return { problem: "Must be more than zero" };
  return part.amount !== undefined && part.amount > whole ? { problem: `At most ${format(whole, unit)}` } : part;
}

function Offered({ commitment }: { commitment: Commitment }) {
  return (
    <div class="stack part">
      <p>
        {whatOf(commitment)} can be taken with this token now. Give it to an admin of the
        receiving project. It is shown only here: starting again makes a new one, and this one stops working.
      </p>
      <CopyField label="Transfer token" value={commitment.transfer_token ?? ""} isNew />
    </div>
  );
}
