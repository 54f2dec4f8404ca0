// Asks before a change that has nothing to fill in, says what it means, and sends it.
import type { ComponentChildren } from "preact";
import { request } from "../api/client";
import { Dialog } from "../components/Dialog";
import { notify } from "../lib/notices";
import { useSubmit } from "../lib/submit";
import type { Change } from "./change";
import { Commands } from "./Commands";

interface Props {
  /** Of the dialog and of its button. */
  title: string;
  change: Change;
  /** What is said when it is done. */
  done: string;
  close: () => void;
  changed: () => void;
  children: ComponentChildren;
}

export function ChangeDialog({ title, change, done, close, changed, children }: Props) {
  const { isBusy, problem, run } = useSubmit();

  async function send(): Promise<void> {
    const { path, method, body } = change.request;
    await request(path, { method, body });
    notify(done);
    close();
    changed();
  }

  return (
    <Dialog title={title} close={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void run(send);
        }}
      >
        <p>{children}</p>
        <Commands of={change} />
        <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
        <footer class="dialog-foot">
          <button class="primary" disabled={isBusy}>
            {title}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
