// At which use of a project's quotas the user gets a mail.
import { request } from "../api/client";
import { loadThreshold } from "../api/notifications";
import type { MyThreshold } from "../api/schema";
import { Commands } from "../commands/Commands";
import { settingThreshold } from "../commands/notifications";
import { Content } from "../components/Content";
import { Field } from "../components/Field";
import { useDraft } from "../lib/drafts";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import { notify } from "../lib/notices";
import { pagePath, type Place } from "../lib/paths";
import { useSubmit } from "../lib/submit";
import { readPercent } from "./words";

export function Threshold({ at }: { at: Place }) {
  const loaded = useLoad((signal) => loadThreshold(at, signal), [at]);
  return (
    <section class="card" aria-labelledby="threshold">
      <header class="card-head">
        <h2 id="threshold">Your own threshold</h2>
      </header>
      <Content of={loaded}>{(found) => <Form key={found.percent} at={at} of={found} reload={loaded.reload} />}</Content>
    </section>
  );
}

function Form({ at, of: { percent: present, address }, reload }: { at: Place; of: MyThreshold; reload: () => void }) {
  const [text, setText] = useDraft("threshold", `${present ?? ""}`);
  const { isBusy, problem, run } = useSubmit();
  const wanted = text.trim() ? readPercent(text) : null;
  const isChanged = wanted !== undefined && wanted !== present;
  const change = isChanged ? settingThreshold(at, wanted) : undefined;

  async function save(): Promise<void> {
    const { path, method, body } = change!.request;
    await request(path, { method, body });
    notify(wanted === null ? "The threshold is removed." : `You get a mail beyond ${wanted} %.`);
    reload();
  }

  const project = <a href={pagePath(at)}>{nameOf(at.project ?? "")}</a>;
  if (address === null) return <p class="card-body">No mail about the use of {project} can reach you: no address is known, or Limes sends no mails to users.</p>;
  return (
    <form
      class="card-body stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged && !isBusy) void run(save);
      }}
    >
      <p>
        You get a mail, once, when project {project} uses more than this share of one of its quotas. Nobody else gets it.
      </p>
      <Field
        label="Percent of a quota"
        name="percent"
        inputMode="numeric"
        autocomplete="off"
        value={text}
        isInvalid={wanted === undefined}
        hint={wanted === undefined ? "A whole number from 1 to 100, or nothing." : "From 1 to 100. Leave it empty for no mail."}
        onInput={setText}
      />
      <Commands of={change} />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <div class="actions">
        <button class="primary" disabled={isBusy || !isChanged}>
          Save threshold
        </button>
      </div>
    </form>
  );
}
