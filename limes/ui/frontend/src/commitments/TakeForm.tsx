// Takes a commitment of another project: with the token that its owner has sent, or one that is offered to everybody.
import { useState } from "preact/hooks";
import { accept, findByToken, listPublic } from "../api/commitments";
import type { Commitment } from "../api/schema";
import { Commands } from "../commands/Commands";
import { accepting, acceptingOffered } from "../commands/commitments";
import { Content } from "../components/Content";
import { Field } from "../components/Field";
import { useDebounced, useLoad } from "../lib/load";
import type { Place } from "../lib/paths";
import { inWords, useSubmit } from "../lib/submit";
import { Summary } from "./Summary";
import { inFull, titleOf } from "./wording";

interface Props {
  at: Place;
  taken: (commitment: Commitment) => void;
}

export function TakeForm({ at, taken }: Props) {
  const submit = useSubmit();
  const take = (one: Commitment, token: string): void => void submit.run(async () => taken(await accept(at, one.id, token)));
  return (
    <div class="stack">
      <ByToken at={at} take={take} isBusy={submit.isBusy} />
      <div role="alert">{submit.problem && <p class="problem">{submit.problem}</p>}</div>
      <Offered at={at} take={take} isBusy={submit.isBusy} />
    </div>
  );
}

interface PartProps {
  at: Place;
  take: (one: Commitment, token: string) => void;
  isBusy: boolean;
}

function ByToken({ at, take, isBusy }: PartProps) {
  const [token, setToken] = useState("");
  const settled = useDebounced(token.trim());
  const found = useLoad(async (signal) => (settled ? findByToken(settled, signal) : null), [settled]);
  const commitment = settled === token.trim() ? (found.data ?? undefined) : undefined;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (commitment && !isBusy) take(commitment, settled);
      }}
    >
      <Field
        label="Transfer token"
        name="transfer-token"
        autocomplete="off"
        autofocus
        value={token}
        hint="The owner of the commitment gets it when starting the transfer."
        isInvalid={found.error !== undefined}
        onInput={setToken}
      />
      <div role="status">
        {found.error && settled && <p class="problem">{inWords(found.error)}</p>}
        {commitment && <Summary of={commitment} />}
      </div>
      <Commands of={commitment && accepting(at, commitment)} />
      <footer class="dialog-foot">
        <button class="primary" disabled={!commitment || isBusy}>
          Take this commitment
        </button>
      </footer>
    </form>
  );
}

const SHOWN = 50;

function Offered({ at, take, isBusy }: PartProps) {
  const offered = useLoad(listPublic, []);
  const [wanted, setWanted] = useState("");
  return (
    <section class="stack part" aria-labelledby="offered">
      <h3 id="offered">Offered to everybody</h3>
      <Content of={offered}>
        {(all) => {
          const text = wanted.trim().toLowerCase();
          const found = all.filter((one) =>
            `${one.service_type}/${one.resource_name} ${titleOf(one)} ${one.availability_zone} ${one.duration}`.toLowerCase().includes(text),
          );
          return (
            <>
              {all.length > 8 && <Field label="Search" name="search" type="search" onInput={setWanted} />}
              {all.length === 0 && <p class="muted">Nothing is offered at the moment.</p>}
              <ul class="offers">
                {found.slice(0, SHOWN).map((one) => (
                  <li key={one.id}>
                    <Summary of={one} />
                    <button
                      class="small"
                      disabled={isBusy || !one.transfer_token}
                      aria-label={`Take ${inFull(one)}`}
                      onClick={() => take(one, one.transfer_token!)}
                    >
                      Take
                    </button>
                    <Commands of={acceptingOffered(at, one)} />
                  </li>
                ))}
              </ul>
              {found.length > SHOWN && <p class="muted">{found.length - SHOWN} more: search for them.</p>}
            </>
          );
        }}
      </Content>
    </section>
  );
}
