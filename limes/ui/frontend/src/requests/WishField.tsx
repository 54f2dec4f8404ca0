// One quota to ask for more of: its present value, and the field.
import { useId } from "preact/hooks";
import { Meter } from "../components/Meter";
import { format, formatExact } from "../lib/units";
import { temporaryOf, temporaryText } from "../quota/temporary";
import type { Wish } from "./wishes";

interface Props {
  wish: Wish;
  text: string;
  type: (text: string) => void;
  isChanged: boolean;
  problem: string | undefined;
}

export function WishField({ wish: { figures, present }, text, type, isChanged, problem }: Props) {
  const id = useId();
  const { unit, usage, committed, distributed } = figures;
  const temporary = temporaryOf(figures);
  return (
    <div class="quota-field" data-state={problem ? "refused" : isChanged ? "changed" : "same"}>
      <div class="quota-what">
        <label for={id} class="resource-name">
          {figures.title}
        </label>
        <Meter {...{ usage, committed, distributed, unit }} limit={present} limitName="quota" />
        <p class="muted">
          {format(usage, unit)} used{figures.grows && " · grows by itself"}
          {temporary && ` · ${temporaryText(temporary, unit)}`}
        </p>
      </div>
      <div class="quota-now">
        <span class="muted">{temporary?.quota_before === undefined ? "now" : "afterwards"}</span> {format(present, unit)}
      </div>
      <div class="quota-new">
        <input
          id={id}
          value={text}
          placeholder={formatExact(present, unit)}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={problem !== undefined}
          aria-describedby={`${id}-verdict`}
          onInput={(event) => type(event.currentTarget.value)}
        />
        <p id={`${id}-verdict`} class="verdict" role="status">
          {problem}
        </p>
      </div>
    </div>
  );
}
