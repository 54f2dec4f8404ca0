// What the API answers on a wanted commitment: at once or when, and what is in the way.
import type { Plan } from "../api/schema";
import { zoneName } from "../lib/names";
import { formatTime, relative } from "../lib/time";
import { format } from "../lib/units";
import type { Verdict } from "./verdict";

interface Props {
  verdict: Verdict;
  unit: string;
  /** Takes the largest amount that can be had at once. */
  takeAmount: (amount: number) => void;
  /** Has it confirmed from then on. */
  takeTime: (seconds: number) => void;
}

export function PlanResult({ verdict, unit, takeAmount, takeTime }: Props) {
  return (
    <div class="outcome" role="status" aria-live="polite" data-state={toneOf(verdict)}>
      <Outcome {...{ verdict, unit, takeAmount, takeTime }} />
      {verdict.state === "answered" &&
        verdict.warnings.map((text) => (
          <p key={text} class="problem-note">
            {text}
          </p>
        ))}
    </div>
  );
}

function toneOf(verdict: Verdict): string {
  if (verdict.state === "refused") return "bad";
  if (verdict.state !== "answered") return "none";
  if (verdict.isPossible) return "good";
  return verdict.plan.confirmable_at === undefined ? "bad" : "later";
}

function Outcome({ verdict, unit, takeAmount, takeTime }: Props) {
  if (verdict.state === "none") return <p class="muted">Enter an amount to see whether it is available.</p>;
  if (verdict.state === "checking") return <p class="muted">Checking…</p>;
  if (verdict.state === "refused") return <p>{verdict.message}</p>;
  const { isPossible, plan } = verdict;
  if (isPossible) return <p class="outcome-head">This can be confirmed at once.</p>;
  const now = plan.confirmable_now;
  return (
    <>
      <p class="outcome-head">{headline(isPossible, plan, unit)}</p>
      {isPossible === false && (
        <p>
          At once: {now > 0 ? `at most ${format(now, unit)}.` : "nothing."}{" "}
          {now > 0 && (
            <button type="button" class="link" onClick={() => takeAmount(now)}>
              Take {format(now, unit)}
            </button>
          )}
        </p>
      )}
      {isPossible === false && plan.confirmable_at !== undefined && (
        <button type="button" onClick={() => takeTime(plan.confirmable_at!)}>
          Commit from {formatTime(plan.confirmable_at)}
        </button>
      )}
      {plan.unplaced_usage !== undefined && (
        <p>{format(plan.unplaced_usage, unit)} are used in unknown zones. They may be in this one, so they are not sold.</p>
      )}
      <Blockers plan={plan} unit={unit} />
      <p class="hint">This is true at the moment: others may commit before you.</p>
    </>
  );
}

function headline(isPossible: boolean | undefined, plan: Plan, unit: string): string {
  if (plan.confirmable_at === undefined) {
    return `There is no time at which this could be confirmed: ${format(plan.missing_capacity ?? 0, unit)} of capacity are missing.`;
  }
  const when = `${formatTime(plan.confirmable_at)} (${relative(plan.confirmable_at)})`;
  return isPossible === false ? `Not at once. It could be confirmed ${when}.` : `It would be confirmed ${when}.`;
}

const SHOWN = 8;

function Blockers({ plan, unit }: { plan: Plan; unit: string }) {
  const { blocked_by: blockers } = plan;
  if (blockers.length === 0) return null;
  return (
    <details>
      <summary>
        {blockers.length === 1 ? "One commitment has to end before" : `${blockers.length} commitments have to end before`}
      </summary>
      <ul class="plain">
        {blockers.slice(0, SHOWN).map((one, index) => (
          <li key={index}>
            {format(one.amount, unit)} in {zoneName(one.availability_zone)}, until {formatTime(one.expires_at)}
          </li>
        ))}
        {blockers.length > SHOWN && <li class="muted">and {blockers.length - SHOWN} more</li>}
      </ul>
    </details>
  );
}
