// A labelled choice.
import { useId } from "preact/hooks";

export interface Option {
  value: string;
  title: string;
  group?: string;
}

interface Props {
  label: string;
  value: string;
  options: Option[];
  choose: (value: string) => void;
}

export function Select({ label, value, options, choose }: Props) {
  const id = useId();
  const groups = [...new Set(options.map((one) => one.group))];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {groups.map((group) => {
          const own = options.filter((one) => one.group === group).map((one) => (
            <option key={one.value} value={one.value}>
              {one.title}
            </option>
          ));
          return group === undefined ? own : <optgroup key={group} label={group} children={own} />;
        })}
      </select>
    </div>
  );
}
