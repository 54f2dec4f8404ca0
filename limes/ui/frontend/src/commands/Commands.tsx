// How to make the same change by a script. Nothing secret is in it: programs have their own token.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Change, clientCommand, curlCommand } from "./change";

/** Undefined: what has been filled in is no change yet. */
export function Commands({ of: change, children }: { of: Change | undefined; children?: ComponentChildren }) {
  if (!change) return null;
  const { needsTransferToken } = change.request;
  return (
    <details class="action commands">
      <summary>The same as a command</summary>
      <div class="stack">
        <Command label="OpenStack client" text={clientCommand(change)} />
        <Command label="curl" text={curlCommand(change)} />
        <p class="hint">
          <code>$OS_TOKEN</code> is your token, as of <code>openstack token issue -f value -c id</code>.
          {needsTransferToken && (
            <>
              {" "}
              Both commands expect the transfer token in <code>OS_LIMES_TRANSFER_TOKEN</code>.
            </>
          )}{" "}
          {children}
        </p>
      </div>
    </details>
  );
}

function Command({ label, text }: { label: string; text: string }) {
  const [remark, setRemark] = useState("");

  async function copy(button: HTMLElement): Promise<void> {
    try {
      await navigator.clipboard.writeText(text); // there is no clipboard where the page comes without TLS
      setRemark("Copied.");
    } catch {
      getSelection()?.selectAllChildren(button.closest("figure")!.querySelector("code")!);
      setRemark("It is selected: copy it with your keyboard.");
    }
  }

  return (
    <figure class="command" aria-label={label}>
      <figcaption>
        {label} <span class="hint" role="status">{remark}</span>
        <button type="button" class="small" aria-label={`Copy the command for ${label}`} onClick={(event) => void copy(event.currentTarget)}>
          Copy
        </button>
      </figcaption>
      <pre tabIndex={0} role="region" aria-label={`Command for ${label}`}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
