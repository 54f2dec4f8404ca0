// One quota: the bar as it would be, the field, and what bounds it.
import { useId } from "preact/hooks";
import type { QuotaRow } from "../api/quota";
import type { QuotaBound, UnacceptableResource } from "../api/schema";
import { Meter } from "../components/Meter";
import { format, formatExact } from "../lib/units";
import { temporaryOf, temporaryText } from "./temporary";

interface Props {
  row: QuotaRow;
  text: string;
  type: (text: string) => void;
  /** The new quota, if there is one. */
  amount: number | undefined;
  problem: string | undefined;
  refused: UnacceptableResource | undefined;
  /** Where one asks for it. */
  request: string | undefined;
  /** Whether everything that was typed is in that request. */
  requestTakesAll: boolean;
}

export function QuotaField({ row, text, type, amount, problem, refused, request, requestTakesAll }: Props) {
  const id = useId();
  const { figures, explanation } = row;
  const { unit, usage, committed, distributed } = figures;
  const temporary = temporaryOf(figures);
  const shown = problem ?? (refused && refusal(refused, unit));
  return (
    <div class="quota-field" data-state={shown ? "refused" : amount === undefined ? "same" : "changed"}>
      <div class="quota-what">
        <label for={id} class="resource-name">
          {figures.title}
        </label>
        <Meter {...{ usage, committed, distributed, unit }} limit={amount ?? row.quota} limitName="quota" />
        <p class="muted">
          {format(usage, unit)} used
          {distributed !== undefined && ` · ${format(distributed, unit)} given to projects`}
          {committed > 0 && ` · ${format(committed, unit)} committed`}
          {temporary && ` · ${temporaryText(temporary, unit)}`}
        </p>
      </div>
      <div class="quota-now">
        <span class="muted">now</span> {format(row.quota, unit)}
      </div>
      {row.isFixed ? (
        <p class="muted">
          Your role may not change this{!request && "; those who give it to this place may: domain or cloud admins"} {request && <Request href={request} title={figures.title} takesAll={requestTakesAll} />}
        </p>
      ) : (
        <div class="quota-new">
          <input
            id={id}
            value={text}
            placeholder={formatExact(row.quota, unit)}
            autocomplete="off"
            spellcheck={false}
            aria-invalid={shown !== undefined}
            aria-describedby={`${id}-bounds ${id}-verdict`}
            onInput={(event) => type(event.currentTarget.value)}
          />
          <p id={`${id}-bounds`} class="hint">
            <Bound bound={explanation.min_acceptable_quota} word="from" unit={unit} type={type} />
            <Bound bound={explanation.max_acceptable_quota} word="to" unit={unit} type={type} />
          </p>
          <p id={`${id}-verdict`} class="verdict" role="status">
            {shown}
          </p>
          {request && <Request href={request} title={figures.title} takesAll={requestTakesAll} />}
        </div>
      )}
    </div>
  );
}

function Request({ href, title, takesAll }: { href: string; title: string; takesAll: boolean }) {
  return (
    <a class="button small request-more" href={href} {...(takesAll ? { "data-takes": "" } : {})}>
      Request more<span class="visually-hidden"> of {title}</span>
    </a>
  );
}

/** An outermost quota, as a button that takes it. */
function Bound(props: { bound: QuotaBound; word: string; unit: string; type: (text: string) => void }) {
  const { bound, word, unit, type } = props;
  if (bound.rule === "amount") return null;
  return (
    <span>
      {word}{" "}
      <button type="button" class="link" title={bound.message} onClick={() => type(formatExact(bound.quota, unit))}>
        {format(bound.quota, unit)}
      </button>{" "}
    </span>
  );
}

function refusal(refused: UnacceptableResource, unit: string): string {
  const { message, min_acceptable_quota: min, max_acceptable_quota: max } = refused;
  const limits = [
    ...(min === undefined ? [] : [`at least ${format(min, unit)}`]),
    ...(max === undefined ? [] : [`at most ${format(max, unit)}`]),
  ];
  return limits.length > 0 ? `${message}: ${limits.join(", ")}` : message;
}
