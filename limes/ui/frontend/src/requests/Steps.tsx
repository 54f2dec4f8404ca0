// What can be done with a request: one choice, one text, one button.
import { useState } from "preact/hooks";
import type { Edit } from "../api/quota";
import { keyOf } from "../api/report";
import { type QuotaRequestWithConversation, refOf, type Step } from "../api/requests";
import { Commands } from "../commands/Commands";
import { stepping } from "../commands/requests";
import { Select } from "../components/Select";
import { TextArea } from "../components/TextArea";
import { useDraft } from "../lib/drafts";
import { placeOf } from "../api/requests";

export type Verb = Step["verb"];

const TITLES: Record<Verb, string> = {
  confirm: "Confirm",
  approve: "Approve",
  reject: "Reject",
  "pass-on": "Pass on",
  withdraw: "Withdraw",
  comments: "Comment",
};

const HINTS: Record<Verb, string> = {
  confirm: "The request goes to those who decide.",
  approve: "The quotas are set at once.",
  reject: "Those who asked see your reason.",
  "pass-on": "Asks the cloud admins for the domain quota that is missing. By passing it on you agree to it.",
  withdraw: "The request ends; nothing is changed.",
  comments: "Everybody who sees the request can read it.",
};

const isTextNeeded = (verb: Verb): boolean => verb === "reject" || verb === "comments";

function stepOf(verb: Verb, text: string, lowered: readonly Edit[]): Step | undefined {
  const said = text.trim();
  if (isTextNeeded(verb) && said === "") return undefined;
  if (verb === "reject") return { verb, reason: said };
  if (verb === "approve") return { verb, comment: said, lowered };
  return { verb, comment: said };
}

interface Props {
  of: QuotaRequestWithConversation;
  verbs: readonly Verb[];
  verb: Verb;
  choose: (verb: Verb) => void;
  lowered: readonly Edit[];
  hasProblems: boolean;
  /** Answers whether it was done. */
  take: (step: Step) => Promise<boolean>;
}

export function Steps({ of, verbs, verb, choose, lowered, hasProblems, take }: Props) {
  const [text, setText] = useDraft("answer", "");
  const [isBusy, setIsBusy] = useState(false);
  const step = verb === "approve" && hasProblems ? undefined : stepOf(verb, text, lowered);
  const units = new Map(of.resources.map((one) => [keyOf(refOf(one)), one.unit ?? ""]));

  async function send(wanted: Step): Promise<void> {
    setIsBusy(true);
    if (await take(wanted)) setText("");
    setIsBusy(false);
  }

  return (
    <form
      class="card request-steps"
      aria-label="Answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (step && !isBusy) void send(step);
      }}
    >
      {verbs.length > 1 && (
        <Select label="Answer" value={verb} options={verbs.map((value) => ({ value, title: TITLES[value] }))} choose={(value) => choose(value as Verb)} />
      )}
      <TextArea label={verb === "reject" ? "Reason" : "Comment"} value={text} required={isTextNeeded(verb)} hint={HINTS[verb]} onInput={setText} />
      <Commands of={step && stepping(placeOf(of), of.id, step, (edit) => units.get(keyOf(edit)) ?? "")} />
      <footer class="dialog-foot">
        <button class={verb === "reject" || verb === "withdraw" ? "danger" : "primary"} disabled={!step || isBusy}>
          {isBusy ? "Sending…" : verb === "approve" && lowered.length > 0 ? "Approve a part" : TITLES[verb]}
        </button>
      </footer>
    </form>
  );
}
