// Scopes to choose from, with a search where there are many.
import { useState } from "preact/hooks";
import { Field } from "../components/Field";
import { mayLeave } from "../lib/drafts";
import { choiceOf, scopeKind, scopeTitle } from "./scope";
import { signIn } from "./requests";
import type { Scope } from "./types";

interface Props {
  scopes: Scope[];
  fail: (problem: string) => void;
  chosen?: () => void;
}

const SHOWN = 100;

export function ScopeList({ scopes, fail, chosen }: Props) {
  const [wanted, setWanted] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const found = scopes.filter((one) => scopeTitle(one).toLowerCase().includes(wanted.toLowerCase()));

  async function choose(scope: Scope): Promise<void> {
    if (!mayLeave()) return;
    setIsBusy(true);
    try {
      await signIn(choiceOf(scope));
      chosen?.();
    } catch (error) {
      fail((error as Error).message);
      setIsBusy(false);
    }
  }

  return (
    <>
      {scopes.length > 8 && <Field label="Search" name="scope" type="search" onInput={(value) => setWanted(value)} />}
      <ul class="choices">
        {found.slice(0, SHOWN).map((one) => (
          <li key={JSON.stringify(choiceOf(one).scope)}>
            <button disabled={isBusy} onClick={() => void choose(one)}>
              <strong>{scopeTitle(one)}</strong>
              <span>{scopeKind(one)}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > SHOWN && <p class="muted">{found.length - SHOWN} more: search for them.</p>}
    </>
  );
}
