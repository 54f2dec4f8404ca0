// A choice of preset sizes, which fills in fields.
import { useState } from "preact/hooks";
import { Select } from "../components/Select";
import { quotaSets } from "../session/resources";
import { amountsOf } from "./sizes";

interface Props {
  /** The amounts by `keyOf`, in the units of the resources. */
  choose: (amounts: ReadonlyMap<string, number>) => void;
}

export function SizePicker({ choose }: Props) {
  const [name, setName] = useState("");
  const sets = quotaSets.value;
  const chosen = sets.find((one) => one.name === name);
  if (sets.length === 0) return null;
  return (
    <div class="tools">
      <Select
        label="Preset size"
        value={name}
        options={[{ value: "", title: "None" }, ...sets.map((one) => ({ value: one.name, title: one.name }))]}
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
