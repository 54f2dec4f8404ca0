// A choice of preset sizes, which fills in fields.
import { useState } from "preact/hooks";
import { Select } from "../components/Select";
import { quotaSets } from "../session/resources";
import { amountsOf, type Field, offered } from "./sizes";

interface Props {
  /** The fields to fill in. */
  fields: readonly Field[];
  /** The amounts by `keyOf`, in the units of the resources. */
  choose: (amounts: ReadonlyMap<string, number>) => void;
}

export function SizePicker({ fields, choose }: Props) {
  const [name, setName] = useState("");
  const sets = quotaSets.value;
  const chosen = sets.find((one) => one.name === name);
  const options = offered(sets, fields);
  if (options.length === 0) return null;
  return (
    <div class="tools">
      <Select
        label="Preset size"
        value={name}
        options={[{ value: "", title: "None" }, ...options]}
        choose={(value) => {
          setName(value);
          choose(amountsOf(sets.find((one) => one.name === value)));
        }}
      />
      <p class="muted" role="status">
        {chosen?.description}
      </p>
    </div>
  );
}
