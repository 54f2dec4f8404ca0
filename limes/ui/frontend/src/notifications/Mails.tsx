// Which mails the user gets, by kind. Each switch is a change of its own.
import { request } from "../api/client";
import { loadMailSettings } from "../api/notifications";
import type { MailSettings, MailSettingsAnswer } from "../api/schema";
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
      <Content of={loaded as Loaded<MailSettings>}>{(settings) => <Choice first={settings} />}</Content>
    </section>
  );
}

type Switch = [kind: string | undefined, isSent: boolean];

function Choice({ first }: { first: MailSettings }) {
  const [{ address, sent, kinds }, setSettings] = useState(first);
  const { isBusy, problem, run } = useSubmit();
  const [last, setLast] = useState<Switch>();
  if (address === null) return <p class="card-body">No mail address of yours is known in Keystone, so you get no mails.</p>;

  async function change(...choice: Switch): Promise<void> {
    const { path, method, body } = wantingMails(...choice).request;
    setLast(choice);
    setSettings((await request<MailSettingsAnswer>(path, { method, body })).data.mail_settings);
  }

  /** At once as it was clicked; after a refusal as it was. */
  const isOn = (kind: string | undefined, isSent: boolean): boolean => (isBusy && last && last[0] === kind ? last[1] : isSent);

  const box = (kind: string | undefined, isSent: boolean, text: string) => (
    <label class="check">
      <input
        type="checkbox"
        checked={isOn(kind, isSent)}
        disabled={kind !== undefined && !sent}
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
