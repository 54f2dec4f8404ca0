// A labelled text of several lines.
import { useId } from "preact/hooks";

interface Props {
  label: string;
  value: string;
  hint?: string;
  required?: boolean;
  autofocus?: boolean;
  onInput: (value: string) => void;
}

/** As long as the API takes texts of requests. */
const MOST = 2000;

export function TextArea({ label, value, hint, required = false, autofocus = false, onInput }: Props) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={3}
        maxLength={MOST}
        value={value}
        required={required}
        autofocus={autofocus}
        {...(hint ? { "aria-describedby": `${id}-hint` } : {})}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
