// A modal dialog: the browser keeps the focus in it, and gives it back.
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  close: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, close, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isGone = useRef(false);
  useLayoutEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => {
      isGone.current = true;
      dialog.close(); // gives the focus back, also where the page and not the user takes the dialog away
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={() => isGone.current || close()}>
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button class="quiet" aria-label="Close" onClick={() => element.current!.close()}>
          ×
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
