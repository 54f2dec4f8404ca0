// Sets quotas of a domain or project, with the API's verdict while one types.
import { useState } from "preact/hooks";
import { ApiError } from "../api/client";
import { type Edit, loadQuotas, type QuotaRow, saveQuotas, type Quotas, type Ref } from "../api/quota";
import { keyOf } from "../api/report";
import { Commands } from "../commands/Commands";
import { settingQuotas } from "../commands/quota";
import { Content } from "../components/Content";
import { Field } from "../components/Field";
import { useDraft } from "../lib/drafts";
import { useLoad } from "../lib/load";
import { notify } from "../lib/notices";
import { pagePath, type Place } from "../lib/paths";
import { secondsOf } from "../lib/time";
import { newRequestPath } from "../requests/words";
import { useAskingHelps } from "../session/rights";
import { read, type Typed } from "./edits";
import { QuotaField } from "./QuotaField";
import { filledIn } from "./sizes";
import { SizePicker } from "./SizePicker";
import { useSimulation, type Verdict } from "./simulation";

interface Props {
  place: Place;
  /** Only this resource. */
  only?: Ref;
  saved: () => void;
}

export function QuotaForm({ place, only, saved }: Props) {
  const quotas = useLoad((signal) => loadQuotas(place, only, signal), [place, only]);
  return <Content of={quotas}>{(data) => <Form {...{ place, data, saved, reload: quotas.reload }} />}</Content>;
}

const unitIn = (rows: QuotaRow[]) => (edit: Ref) => rows.find((one) => keyOf(one) === keyOf(edit))?.figures.unit ?? "";

const CONFLICT = "Someone else has changed quotas in the meantime. The figures are now up to date: check them, then save.";

interface FormProps {
  place: Place;
  data: Quotas;
  saved: () => void;
  reload: () => void;
}

function Form({ place, data, saved, reload }: FormProps) {
  const name = `quota ${pagePath(place)} ${data.rows.map(keyOf).join(" ")}`;
  const [typed, setTyped] = useDraft<Typed>(name, {});
  const [end, setEnd] = useDraft(`${name} until`, "");
  const until = end === "" ? undefined : secondsOf(end);
  const [problem, setProblem] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const askingHelps = useAskingHelps(place);
  const { edits, problems } = read(data.rows, typed);
  const verdict = useSimulation(place, edits, until, data.etag);
  const isGood = edits.length > 0 && problems.size === 0 && verdict.refused?.size === 0;
  const isStale = verdict.error instanceof ApiError && verdict.error.status === 412;

  async function save(): Promise<void> {
    setIsBusy(true);
    setProblem("");
    try {
      const remark = await saveQuotas(place, edits, until, data.etag);
      notify(remark ? `Saved. ${remark}` : `Quota of ${data.name} saved.`, remark ? "warning" : "good");
      setTyped({});
      setEnd("");
      saved();
      reload();
    } catch (error) {
      const isConflict = error instanceof ApiError && error.status === 412;
      setProblem(isConflict ? CONFLICT : (error as Error).message);
      if (isConflict) reload();
    } finally {
      setIsBusy(false);
    }
  }

  const refusedRaises = edits.filter((edit) => {
    const row = data.rows.find((one) => keyOf(one) === keyOf(edit));
    return verdict.refused?.has(keyOf(edit)) && row !== undefined && edit.amount > row.quota;
  });
  const fields = data.rows.filter((one) => !one.isFixed).map((one) => ({ key: keyOf(one), unit: one.figures.unit, present: one.quota }));
  const services = [...new Set(data.rows.map((one) => one.service))];
  if (data.rows.length === 0) return <p class="empty">There is no quota here to set.</p>;
  return (
    <form
      class="quota-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood && !isBusy) void save();
      }}
    >
      <SizePicker fields={fields} choose={(amounts) => setTyped(filledIn(fields, amounts, false))} />
      {services.map((service) => (
        <fieldset key={service} class="card">
          <legend class="card-head">
            <h2>{service}</h2>
          </legend>
          {data.rows
            .filter((one) => one.service === service)
            .map((one) => (
              <QuotaField
                key={keyOf(one)}
                row={one}
                text={typed[keyOf(one)] ?? ""}
                type={(text) => setTyped((before) => ({ ...before, [keyOf(one)]: text }))}
                amount={edits.find((edit) => keyOf(edit) === keyOf(one))?.amount}
                problem={problems.get(keyOf(one))}
                refused={verdict.refused?.get(keyOf(one))}
                request={askingHelps ? requestFor(place, one, refusedRaises) : undefined}
                requestTakesAll={refusedRaises.length === edits.length && problems.size === 0}
              />
            ))}
        </fieldset>
      ))}
      {edits.length > 0 && (
        <Field
          label="Until"
          name="until"
          type="datetime-local"
          value={end}
          hint="Leave empty to keep the quota permanently. Otherwise it reverts at this time, as far as usage and commitments allow."
          onInput={setEnd}
        />
      )}
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      {verdict.warnings.map((text) => (
        <p key={text} class="problem-note" role="status">
          {text}
        </p>
      ))}
      <Commands of={edits.length > 0 && problems.size === 0 ? settingQuotas(place, edits, unitIn(data.rows), until) : undefined} />
      <footer class="form-foot" data-state={edits.length + problems.size > 0 ? "changed" : "same"}>
        <p role="status" aria-live="polite">
          {summary(edits.length, problems.size, verdict)}
        </p>
        {isStale && (
          <button type="button" onClick={reload}>
            Load the present figures
          </button>
        )}
        <button class="primary" disabled={!isGood || isBusy}>
          {isBusy ? "Saving…" : edits.length > 1 ? `Save ${edits.length} quotas` : "Save quota"}
        </button>
      </footer>
    </form>
  );
}

/** The way out of a refusal: a request for all that was refused, or for what the user may not change at all. */
function requestFor(place: Place, row: QuotaRow, refusedRaises: Edit[]): string | undefined {
  if (row.isFixed) return newRequestPath(place, [{ service: row.service, name: row.name }]);
  return refusedRaises.some((one) => keyOf(one) === keyOf(row)) ? newRequestPath(place, refusedRaises) : undefined;
}

function summary(changes: number, problems: number, verdict: Verdict): string {
  if (problems > 0) return "Some amounts cannot be read.";
  if (changes === 0) return "Nothing is changed yet.";
  if (verdict.error) return verdict.error instanceof ApiError && verdict.error.status === 412 ? CONFLICT : verdict.error.message;
  if (!verdict.refused) return "Checking…";
  const refused = verdict.refused.size;
  if (refused > 0) return `${refused} of ${changes} would be refused.`;
  return changes === 1 ? "This would be accepted." : `All ${changes} would be accepted.`;
}
