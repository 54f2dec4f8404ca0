// Makes of a commitment, or of a part of it, one of another resource.
import { conversionRates, convert } from "../api/commitments";
import type { ConversionPart, ConversionRate } from "../api/schema";
import { Content } from "../components/Content";
import { Commands } from "../commands/Commands";
import { converting } from "../commands/commitments";
import { Field } from "../components/Field";
import { Select } from "../components/Select";
import { useDraft } from "../lib/drafts";
import { useLoad } from "../lib/load";
import { useSubmit } from "../lib/submit";
import { format, formatExact, parse } from "../lib/units";
import type { ActionProps } from "./rules";
import type { Offer } from "./offers";
import { converted } from "./rules";
import { inFull, titleOf } from "./wording";

const titleOfTarget = (one: ConversionRate): string => titleOf({ service_type: one.target_service, resource_name: one.target_resource });
const targetOf = (one: ConversionRate): string => `${one.target_service}/${one.target_resource}`;

const partOf = ({ target_service, target_resource }: ConversionRate, source_amount: number, target_amount: number): ConversionPart => ({
  target_service,
  target_resource,
  source_amount,
  target_amount,
});

interface Props extends ActionProps {
  /** Where the units of other resources are found. */
  offers: Offer[];
}

export function ConvertForm(props: Props) {
  const { service_type: service, resource_name: resource } = props.commitment;
  const rates = useLoad((signal) => conversionRates(service, resource, signal), [service, resource]);
  return (
    <div class="part">
      <Content of={rates}>
        {(found) => (found.length > 0 ? <Form {...props} rates={found} /> : <p>Commitments of this resource cannot be converted.</p>)}
      </Content>
    </div>
  );
}

function Form({ at, commitment, done, offers, rates }: Props & { rates: ConversionRate[] }) {
  const { unit, amount: whole } = commitment;
  const [target, setTarget] = useDraft(`target of ${commitment.id}`, targetOf(rates[0]!), false);
  const [text, setText] = useDraft(`converted of ${commitment.id}`, formatExact(whole, unit));
  const { isBusy, problem, run } = useSubmit();
  const rate = rates.find((one) => targetOf(one) === target)!;
  const { amount, problem: unreadable } = parse(text, unit);
  const targetUnit = offers.find((one) => one.key === target)?.unit;
  const becomes = amount === undefined ? undefined : converted(amount, rate);

  async function save(): Promise<void> {
    const made = await convert(at, commitment.id, partOf(rate, amount!, becomes!));
    done(`Converted: ${format(amount!, unit)} ${titleOf(commitment)} into ${inFull(made)}.`);
  }

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (becomes && !isBusy) void run(save);
      }}
    >
      <Select
        label="Convert to"
        value={target}
        options={rates.map((one) => ({ value: targetOf(one), title: titleOfTarget(one) }))}
        choose={setTarget}
      />
      <Field
        label="How much of it"
        name="convert-amount"
        value={text}
        autocomplete="off"
        isInvalid={!becomes}
        hint={
          unreadable ??
          (becomes ? `${format(amount!, unit)} ${titleOf(commitment)} become ${format(becomes, targetUnit)} ${titleOfTarget(rate)}.` : `Only multiples of ${format(rate.source_amount, unit)}`)
        }
        onInput={setText}
      />
      <Commands of={becomes ? converting(at, commitment, partOf(rate, amount!, becomes)) : undefined} />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <footer class="dialog-foot">
        <button class="primary" disabled={!becomes || isBusy}>
          Convert
        </button>
      </footer>
    </form>
  );
}
