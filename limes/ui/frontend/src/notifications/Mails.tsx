// Which mails the user gets, by kind. Each switch is a change of its own.
import { request } from "../api/client";
import { loadMailSettings } from "../api/notifications";
import type { MailSettings } from "../api/schema";
import { Commands } from "../commands/Commands";
import { wantingMails } from "../commands/notifications";
import { Content } from "../components/Content";
import { type Loaded, useLoad } from "../lib/load";
import { useState } from "preact/hooks";
import { useSubmit } from "../lib/submit";
import { kindText } from "./words";

export function Mails() {
  const loaded = useLoad(loadMailSettings, []);
  if (!loaded.isLoading && !loaded.error && !loaded.data) return null; // Limes sends no mails
  return (
    <section class="card" aria-labelledby="mails">
      <header class="card-head">
        <h2 id="mails">Mails</h2>
      </header>
      <Content of={loaded as Loaded<MailSettings>}>{(settings) => <Choice of={settings} reload={loaded.reload} />}</Content>
    </section>
  );
}

function Choice({ of: { address, sent, kinds }, reload }: { of: MailSettings; reload: () => void }) {
  const { isBusy, problem, run } = useSubmit();
  const [last, setLast] = useState<[string | undefined, boolean]>();
  if (address === null) return <p class="empty">No mail address of yours is known in Keystone, so you get no mails.</p>;

  async function change(kind: string | undefined, isSent: boolean): Promise<void> {
    const { path, method, body } = wantingMails(kind, isSent).request;
    setLast([kind, isSent]);
    await request(path, { method, body });
    reload();
  }

  const box = (kind: string | undefined, isSent: boolean, text: string) => (
    <label class="check">
      <input
        type="checkbox"
        checked={isSent}
        disabled={isBusy || (kind !== undefined && !sent)}
        onChange={(event) => void run(() => change(kind, event.currentTarget.checked))}
      />{" "}
      {text}
    </label>
  );
  return (
    <div class="card-body stack">
      <p>
        They go to <strong>{address}</strong>. Which of them concern you, your operators have decided.
      </p>
      {box(undefined, sent, "Send me mails")}
      <fieldset class="mail-kinds">
        <legend class="visually-hidden">Kinds of mail</legend>
        {kinds.map((one) => (
          <div key={one.kind}>{box(one.kind, one.sent, kindText(one.kind))}</div>
        ))}
      </fieldset>
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <Commands of={last && wantingMails(...last)} />
    </div>
  );
}
