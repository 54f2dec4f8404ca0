// Makes of a commitment, or of a part of it, one of another resource.
import { useState } from "preact/hooks";
import { conversionRates, convert } from "../api/commitments";
import type { ConversionRate } from "../api/schema";
import { Content } from "../components/Content";
import { Field } from "../components/Field";
import { Select } from "../components/Select";
import { useLoad } from "../lib/load";
import { useSubmit } from "../lib/submit";
import { format, formatExact, parse } from "../lib/units";
import type { ActionProps } from "./rules";
import type { Offer } from "./offers";
import { converted } from "./rules";

const targetOf = (one: ConversionRate): string => `${one.target_service}/${one.target_resource}`;

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
  const [target, setTarget] = useState(targetOf(rates[0]!));
  const [text, setText] = useState(formatExact(whole, unit));
  const { isBusy, problem, run } = useSubmit();
  const rate = rates.find((one) => targetOf(one) === target)!;
  const { amount, problem: unreadable } = parse(text, unit);
  const targetUnit = offers.find((one) => one.key === target)?.unit;
  const becomes = amount === undefined ? undefined : converted(amount, rate);

  async function save(): Promise<void> {
    const { target_service, target_resource } = rate;
    const made = await convert(at, commitment.id, { target_service, target_resource, source_amount: amount!, target_amount: becomes! });
    done(`Commitment ${made.id} of ${format(made.amount, made.unit)} ${target} was made of commitment ${commitment.id}.`);
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
        options={rates.map((one) => ({ value: targetOf(one), title: targetOf(one) }))}
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
          (becomes ? `${format(amount!, unit)} become ${format(becomes, targetUnit)} of ${target}.` : `Only multiples of ${format(rate.source_amount, unit)}`)
        }
        onInput={setText}
      />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <footer class="dialog-foot">
        <button class="primary" disabled={!becomes || isBusy}>
          Convert
        </button>
      </footer>
    </form>
  );
}
