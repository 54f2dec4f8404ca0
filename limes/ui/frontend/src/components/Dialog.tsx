// A modal dialog: the browser keeps the focus in it, and gives it back. One begins in its first field, not at its cross.
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

const FIELDS = ".dialog-body :is(input, select, textarea):not(:disabled)";

interface Props {
  title: string;
  close: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, close, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  const isGone = useRef(false);
  useLayoutEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    if (!dialog.querySelector("[autofocus]")) (dialog.querySelector<HTMLElement>(FIELDS) ?? heading.current!).focus();
    return () => {
      isGone.current = true;
      dialog.close(); // gives the focus back, also where the page and not the user takes the dialog away
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={() => isGone.current || close()}>
      <header class="dialog-head">
        <h2 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <button class="quiet" aria-label="Close" onClick={() => element.current!.close()}>
          ×
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
