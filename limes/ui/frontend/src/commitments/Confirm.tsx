// Changes of a commitment that need no more than a yes.
import { remove, renew, setAutoRenewal, startTransfer } from "../api/commitments";
import { Commands } from "../commands/Commands";
import { deleting, renewing, switchingAutoRenewal, withdrawing } from "../commands/commitments";
import type { Commitment } from "../api/schema";
import type { Change } from "../commands/change";
import type { Place } from "../lib/paths";
import { useSubmit } from "../lib/submit";
import { formatDate, formatTime } from "../lib/time";
import type { ActionProps } from "./rules";
import { inFull, whatOf } from "./wording";

interface Question {
  text: (one: Commitment) => string;
  button: string;
  change: (at: Place, one: Commitment) => Change;
  run: (props: ActionProps) => Promise<string>;
}

const QUESTIONS: Record<"withdraw" | "renew" | "auto-renew" | "let-end" | "delete", Question> = {
  withdraw: {
    text: () => "Its transfer token stops working, and the offer ends.",
    button: "Withdraw the offer",
    change: withdrawing,
    run: async ({ at, commitment: one }) => {
      await startTransfer(at, one.id, one.amount, "");
      return `The offer of ${whatOf(one)} is withdrawn.`;
    },
  },
  renew: {
    text: (one) => `A new commitment of ${whatOf(one)} for ${one.duration} begins when this one ends, on ${formatTime(one.expires_at)}.`,
    button: "Renew",
    change: renewing,
    run: async ({ at, commitment: one }) => {
      const next = await renew(at, one.id);
      return `Renewed: ${whatOf(one)} from ${formatDate(one.expires_at)} until ${formatDate(next.expires_at)}.`;
    },
  },
  "auto-renew": {
    text: (one) => `${whatOf(one)} is renewed for ${one.duration} before it ends, again and again, until you stop it.`,
    button: "Renew automatically",
    change: (at, one) => switchingAutoRenewal(at, one, true),
    run: async ({ at, commitment: one }) => {
      await setAutoRenewal(at, one.id, true);
      return `${whatOf(one)} is renewed automatically.`;
    },
  },
  "let-end": {
    text: (one) => `${whatOf(one)} ends on ${formatTime(one.expires_at)}, unless you renew it.`,
    button: "Stop renewing",
    change: (at, one) => switchingAutoRenewal(at, one, false),
    run: async ({ at, commitment: one }) => {
      await setAutoRenewal(at, one.id, false);
      return `${whatOf(one)} is not renewed any more.`;
    },
  },
  delete: {
    text: (one) => `The commitment of ${inFull(one)}, cannot be restored, and its capacity becomes free for others.`,
    button: "Delete permanently",
    change: deleting,
    run: async ({ at, commitment: one }) => {
      await remove(at, one.id);
      return `Deleted: ${inFull(one)}.`;
    },
  },
};

export type Asked = keyof typeof QUESTIONS;

/** Whether an action needs no more than a yes. */
export const isQuestion = (action: string): action is Asked => action in QUESTIONS;

export function Confirm({ action, ...props }: ActionProps & { action: Asked }) {
  const { isBusy, problem, run } = useSubmit();
  const question = QUESTIONS[action];
  return (
    <form
      class="stack part"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void run(async () => props.done(await question.run(props)));
      }}
    >
      <p>{question.text(props.commitment)}</p>
      <Commands of={question.change(props.at, props.commitment)} />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <footer class="dialog-foot">
        <button class={action === "delete" ? "danger" : "primary"} disabled={isBusy}>
          {question.button}
        </button>
      </footer>
    </form>
  );
}
