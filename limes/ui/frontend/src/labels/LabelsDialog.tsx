// All labels of a project in one form: a line for each.
import { type Labels, saveLabels } from "../api/labels";
import { Commands } from "../commands/Commands";
import { settingLabels } from "../commands/labels";
import { Dialog } from "../components/Dialog";
import { Field } from "../components/Field";
import { useDraft } from "../lib/drafts";
import { notify } from "../lib/notices";
import type { Place } from "../lib/paths";
import { useSubmit } from "../lib/submit";
import { type Entry, entriesOf, isSame, KEY_HINT, MOST, NO_ENTRY, readEntries } from "./entries";

interface Props {
  at: Place;
  name: string;
  labels: Labels;
  close: () => void;
  changed: () => void;
}

export function LabelsDialog({ at, name, labels: present, close, changed }: Props) {
  const [entries, setEntries] = useDraft<Entry[]>("labels", () => (isSame(present, {}) ? [NO_ENTRY] : entriesOf(present)));
  const { isBusy, problem, run } = useSubmit();
  const { labels, problems } = readEntries(entries);
  const mayBeSaved = problems.size === 0 && !isSame(labels, present);

  const change = (index: number, part: Partial<Entry>): void =>
    setEntries((before) => before.map((one, number) => (number === index ? { ...one, ...part } : one)));

  async function save(): Promise<void> {
    await saveLabels(at, labels);
    notify("The labels are saved.");
    close();
    changed();
  }

  return (
    <Dialog title={`Labels of ${name}`} close={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (mayBeSaved && !isBusy) void run(save);
        }}
      >
        <p class="hint">A project has up to {MOST} labels. A key is {KEY_HINT}; a value may be empty.</p>
        {entries.map((one, index) => (
          <div key={index} class="label-entry" role="group" aria-label={`Label ${index + 1}`}>
            <Field
              label="Key"
              name={`key-${index}`}
              value={one.key}
              autocomplete="off"
              isInvalid={problems.has(index)}
              hint={problems.get(index)}
              onInput={(key) => change(index, { key })}
            />
            <Field label="Value" name={`value-${index}`} value={one.value} autocomplete="off" onInput={(value) => change(index, { value })} />
            <button
              type="button"
              class="small"
              aria-label={`Remove label ${one.key || index + 1}`}
              onClick={() => setEntries((before) => before.filter((_, number) => number !== index))}
            >
              Remove
            </button>
          </div>
        ))}
        {entries.length < MOST && (
          <div class="actions">
            <button type="button" class="small" onClick={() => setEntries((before) => [...before, NO_ENTRY])}>
              Add label
            </button>
          </div>
        )}
        <Commands of={mayBeSaved ? settingLabels(at, labels) : undefined} />
        <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
        <footer class="dialog-foot">
          <button class="primary" disabled={isBusy || !mayBeSaved}>
            Save labels
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
