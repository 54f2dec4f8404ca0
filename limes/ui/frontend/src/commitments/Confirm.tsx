// Changes of a commitment that need no more than a yes.
import { remove, renew, startTransfer } from "../api/commitments";
import type { Commitment } from "../api/schema";
import { useSubmit } from "../lib/submit";
import { formatDate, formatTime } from "../lib/time";
import type { ActionProps } from "./rules";

interface Question {
  text: (one: Commitment) => string;
  button: string;
  run: (props: ActionProps) => Promise<string>;
}

const QUESTIONS: Record<"withdraw" | "renew" | "delete", Question> = {
  withdraw: {
    text: () => "Its transfer token stops working, and it is offered no longer.",
    button: "Withdraw the offer",
    run: async ({ at, commitment: { id, amount } }) => {
      await startTransfer(at, id, amount, "");
      return `The offer of commitment ${id} is withdrawn.`;
    },
  },
  renew: {
    text: (one) => `A new commitment of the same amount and duration (${one.duration}) begins when this one ends, on ${formatTime(one.expires_at)}.`,
    button: "Renew",
    run: async ({ at, commitment: { id } }) => {
      const next = await renew(at, id);
      return `Commitment ${next.id} follows on commitment ${id}, until ${formatDate(next.expires_at)}.`;
    },
  },
  delete: {
    text: () => "It cannot be restored, and its capacity becomes free for others.",
    button: "Delete permanently",
    run: async ({ at, commitment: { id } }) => {
      await remove(at, id);
      return `Commitment ${id} is deleted.`;
    },
  },
};

export function Confirm({ action, ...props }: ActionProps & { action: keyof typeof QUESTIONS }) {
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
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <footer class="dialog-foot">
        <button class={action === "delete" ? "danger" : "primary"} disabled={isBusy}>
          {question.button}
        </button>
      </footer>
    </form>
  );
}
