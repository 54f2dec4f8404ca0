// A labelled input.
import type { ComponentChildren, InputHTMLAttributes } from "preact";
import { useId } from "preact/hooks";

interface Props {
  label: string;
  name: string;
  type?: "text" | "password" | "search" | "datetime-local" | "date";
  value?: string;
  autocomplete?: string;
  inputMode?: "numeric";
  required?: boolean;
  /** In a dialog: where one begins. */
  autofocus?: boolean;
  /** Below the input, and read out with it. */
  hint?: ComponentChildren;
  isInvalid?: boolean;
  onInput?: (value: string) => void;
}

export function Field({ label, hint, isInvalid, onInput, ...input }: Props) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        spellcheck={false}
        autocapitalize="off"
        {...(hint ? { "aria-describedby": `${id}-hint` } : {})}
        aria-invalid={isInvalid ?? false}
        onInput={(event) => onInput?.(event.currentTarget.value)}
        {...(input as InputHTMLAttributes<HTMLInputElement>)}
      />
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
