// A text to be taken along, with a button that copies it.
import { useEffect, useId, useRef, useState } from "preact/hooks";

interface Props {
  label: string;
  value: string;
  /** What has just been made: it is read out, and ready to be copied. */
  isNew?: boolean;
}

export function CopyField({ label, value, isNew = false }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [remark, setRemark] = useState("");

  useEffect(() => {
    if (isNew) input.current!.focus();
  }, [value]);

  async function copy(): Promise<void> {
    input.current!.select();
    try {
      await navigator.clipboard.writeText(value); // there is no clipboard where the page comes without TLS
      setRemark("Copied.");
    } catch {
      setRemark("It is selected: copy it with your keyboard.");
    }
  }

  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="copy">
        <input id={id} ref={input} class="mono" readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
      </div>
      <p class="hint" role="status">
        {remark}
      </p>
    </div>
  );
}
