// Where notifications about a project are sent to, for those who may choose it, where operators allow it.
import { useState } from "preact/hooks";
import { loadWebhook, saveWebhook } from "../api/notifications";
import type { Webhook } from "../api/schema";
import { ChangeDialog } from "../commands/ChangeDialog";
import { Commands } from "../commands/Commands";
import { removingWebhook, settingWebhook } from "../commands/notifications";
import { Content } from "../components/Content";
import { CopyField } from "../components/CopyField";
import { Dialog } from "../components/Dialog";
import { Field } from "../components/Field";
import { useAddress } from "../lib/address";
import { useDraft } from "../lib/drafts";
import { type Loaded, useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import type { Place } from "../lib/paths";
import { useSubmit } from "../lib/submit";
import { formatTime } from "../lib/time";

export function ProjectWebhook({ at }: { at: Place }) {
  const loaded = useLoad(async (signal) => ({ webhook: await loadWebhook(at, signal) }), [at]);
  const [choices, change] = useAddress();
  if (loaded.data && loaded.data.webhook === undefined) return null; // operators allow none
  const close = (): void => change({ do: undefined });
  return (
    <section class="card" aria-labelledby="webhook">
      <header class="card-head">
        <h2 id="webhook">Webhook of {nameOf(at.project ?? "")}</h2>
      </header>
      <Content of={loaded as Loaded<{ webhook: Webhook | null }>}>
        {({ webhook }) => (
          <div class="card-body stack">
            <p>A chat or another program gets all notifications about this project, with a signature.</p>
            {webhook && <Facts of={webhook} />}
            <div class="actions">
              <button class="small" onClick={() => change({ do: "webhook" }, true)}>
                {webhook ? "Change webhook" : "Set webhook"}
              </button>
              {webhook && (
                <button class="small" onClick={() => change({ do: "remove-webhook" }, true)}>
                  Remove webhook
                </button>
              )}
            </div>
            {choices.do === "webhook" && <SetDialog at={at} close={close} changed={loaded.reload} />}
            {choices.do === "remove-webhook" && webhook && (
              <ChangeDialog title="Remove webhook" change={removingWebhook(at)} done="The webhook is removed." close={close} changed={loaded.reload}>
                Notifications about this project are no longer sent to it.
              </ChangeDialog>
            )}
          </div>
        )}
      </Content>
    </section>
  );
}

function Facts({ of }: { of: Webhook }) {
  const { url, set_by: by, set_at: at, delivered_at: delivered, failed_at: failed, error } = of;
  return (
    <>
      <dl class="facts">
        <div>
          <dt>URL</dt>
          <dd class="mono said">{url}</dd>
        </div>
        <div>
          <dt>Set by</dt>
          <dd>
            {by.name || by.id}, {formatTime(at)}
          </dd>
        </div>
        <div>
          <dt>Last arrival</dt>
          <dd>{delivered === undefined ? "nothing so far" : formatTime(delivered)}</dd>
        </div>
      </dl>
      {error && (
        <p class="problem">
          {failed === undefined ? "" : `${formatTime(failed)}: `}
          {error}
        </p>
      )}
    </>
  );
}

function SetDialog({ at, close, changed }: { at: Place; close: () => void; changed: () => void }) {
  const [url, setUrl] = useDraft("webhook", "");
  const [secret, setSecret] = useState("");
  const { isBusy, problem, run } = useSubmit();
  const isUrl = /^https?:\/\/[^/]/.test(url.trim());

  async function save(): Promise<void> {
    const made = await saveWebhook(at, url.trim());
    setSecret(made?.secret ?? "");
    setUrl("");
    changed();
  }

  if (secret) {
    return (
      <Dialog title="The webhook is set" close={close}>
        <div class="stack">
          <p>Its receiver needs this secret to check signatures. It is shown only now: take it along.</p>
          <CopyField label="Secret" value={secret} isNew />
          <footer class="dialog-foot">
            <button class="primary" onClick={close}>
              Done
            </button>
          </footer>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Set webhook" close={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isUrl && !isBusy) void run(save);
        }}
      >
        <Field
          label="URL"
          name="url"
          value={url}
          autocomplete="off"
          hint="Such as https://chat.example.com/hooks/1. Operators decide which hosts are allowed."
          onInput={setUrl}
        />
        <p class="hint">There will be a new secret for signatures; an earlier one stops working.</p>
        <Commands of={isUrl ? settingWebhook(at, url.trim()) : undefined} />
        <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
        <footer class="dialog-foot">
          <button class="primary" disabled={isBusy || !isUrl}>
            Set webhook
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
