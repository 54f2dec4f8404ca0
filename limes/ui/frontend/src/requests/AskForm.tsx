// Asks for more quota: how much of what, and why.
import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { keyOf, type Report } from "../api/report";
import { ask, type QuotaRequest } from "../api/requests";
import { Commands } from "../commands/Commands";
import { asking } from "../commands/requests";
import { Field } from "../components/Field";
import { TextArea } from "../components/TextArea";
import { useDraft } from "../lib/drafts";
import { notify } from "../lib/notices";
import { useSubmit } from "../lib/submit";
import { secondsOf } from "../lib/time";
import { formatExact } from "../lib/units";
import { filledIn } from "../quota/sizes";
import { SizePicker } from "../quota/SizePicker";
import { useRecount } from "./waiting";
import { WishField } from "./WishField";
import { readWishes, type Wish, wishesOf } from "./wishes";
import { requestPath, statusText } from "./words";

type Typed = Readonly<Record<string, string>>;

interface Props {
  report: Report;
  /** What the address asks for. */
  asked: ReadonlyMap<string, number | undefined>;
}

const WAITS: Partial<Record<QuotaRequest["status"], string>> = {
  proposed: "waits for an admin of the project to confirm it",
  open: "waits for a decision",
};

function firstTyped(wishes: readonly Wish[], asked: Props["asked"]): Typed {
  return Object.fromEntries(
    wishes.flatMap(({ figures }) => {
      const amount = asked.get(keyOf(figures));
      return amount === undefined ? [] : [[keyOf(figures), formatExact(amount, figures.unit)]];
    }),
  );
}

export function AskForm({ report, asked }: Props) {
  const { place } = report;
  const { route } = useLocation();
  const recount = useRecount(place);
  const wishes = wishesOf(report);
  const [typed, setTyped] = useDraft<Typed>("asked", () => firstTyped(wishes, asked));
  const [isOpen, setIsOpen] = useState(() => ![...asked.keys()].some((key) => wishes.some(({ figures }) => keyOf(figures) === key)));
  const [reason, setReason] = useDraft("reason", "");
  const [end, setEnd] = useDraft("until", "");
  const until = end === "" ? undefined : secondsOf(end);
  const { isBusy, problem, run } = useSubmit();
  const { edits, problems } = readWishes(wishes, typed);
  const isGood = edits.length > 0 && problems.size === 0 && reason.trim() !== "";
  const units = new Map(wishes.map(({ figures }) => [keyOf(figures), figures.unit]));
  const all = wishes.map(({ figures, present }) => ({ key: keyOf(figures), unit: figures.unit, present }));
  const named = wishes.filter(({ figures }) => asked.has(keyOf(figures)));
  const others = wishes.filter((one) => !named.includes(one));

  async function send(): Promise<void> {
    const { quota_request: made, warnings = [] } = await ask(place, edits, reason.trim(), until);
    const outcome = WAITS[made.status] ? `Request ${made.id} ${WAITS[made.status]}.` : `Request ${made.id}: ${statusText(made.status)} at once.`;
    notify([outcome, ...warnings].join(" "), warnings.length > 0 ? "warning" : "good");
    recount();
    route(requestPath(made));
  }

  const fields = (some: readonly Wish[]) =>
    some.map((wish) => {
      const key = keyOf(wish.figures);
      return (
        <WishField
          key={key}
          wish={wish}
          text={typed[key] ?? ""}
          type={(text) => setTyped((before) => ({ ...before, [key]: text }))}
          isChanged={edits.some((one) => keyOf(one) === key)}
          problem={problems.get(key)}
        />
      );
    });

  if (wishes.length === 0) return <p class="empty">There is no quota here to ask for.</p>;
  return (
    <form
      class="quota-form stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood && !isBusy) void run(send);
      }}
    >
      <SizePicker
        fields={all}
        choose={(amounts) => {
          setTyped(filledIn(all, amounts, true));
          setIsOpen(true);
        }}
      />
      {named.length > 0 && <div class="card">{fields(named)}</div>}
      {others.length > 0 && (
        <details class="action" open={isOpen}>
          <summary>{named.length > 0 ? "Other resources" : "Resources"}</summary>
          {[...new Set(others.map((one) => one.figures.service))].map((service) => (
            <fieldset key={service} class="card">
              <legend class="card-head">
                <h2>{service}</h2>
              </legend>
              {fields(others.filter((one) => one.figures.service === service))}
            </fieldset>
          ))}
        </details>
      )}
      <TextArea label="Reason" value={reason} required hint="Those who decide read it. Plain text, up to 2,000 characters." onInput={setReason} />
      <Field
        label="Until"
        name="until"
        type="datetime-local"
        value={end}
        hint="Leave empty to keep the quota permanently. Otherwise it reverts at this time, as far as usage and commitments allow."
        onInput={setEnd}
      />
      <Commands of={isGood ? asking(place, edits, reason.trim(), (edit) => units.get(keyOf(edit)) ?? "", until) : undefined} />
      <div role="alert">{problem && <p class="problem request-problem">{problem}</p>}</div>
      <footer class="form-foot">
        <p role="status" aria-live="polite">
          {problems.size > 0 ? "Some amounts cannot be asked for." : edits.length === 0 ? "Write the quota that you want to have." : reason.trim() === "" ? "A reason is needed." : ""}
        </p>
        <button class="primary" disabled={!isGood || isBusy}>
          {isBusy ? "Sending…" : "Send the request"}
        </button>
      </footer>
    </form>
  );
}
