// Who one is, for which scope; another scope; out.
import { useLocation } from "preact-iso";
import { useEffect, useRef, useState } from "preact/hooks";
import { mayLeave } from "../lib/drafts";
import { ScopeList } from "../session/ScopeList";
import { scopeKind, scopeTitle } from "../session/scope";
import { otherScopes, signOut } from "../session/requests";
import { session } from "../session/store";
import type { Scope } from "../session/types";

export function UserMenu() {
  const { route } = useLocation();
  const menu = useRef<HTMLDetailsElement>(null);
  const [scopes, setScopes] = useState<Scope[]>();
  const [problem, setProblem] = useState("");
  const me = session.value;
  useEffect(() => closeFromOutside(menu), []);
  if (!me?.scope) return null;

  async function show(): Promise<void> {
    setProblem("");
    try {
      setScopes(await otherScopes());
    } catch (error) {
      setProblem((error as Error).message);
    }
  }

  function switched(): void {
    if (menu.current) menu.current.open = false;
    setScopes(undefined);
    route("/ui");
  }

  return (
    <details class="menu" ref={menu}>
      <summary>
        <span class="who">
          <strong>{me.user.name}</strong>
          <span>{scopeTitle(me.scope)}</span>
        </span>
      </summary>
      <div class="menu-body">
        <dl class="facts">
          <dt>User</dt>
          <dd>{me.user.domain.name ? `${me.user.name} @ ${me.user.domain.name}` : me.user.name}</dd>
          <dt>Scope</dt>
          <dd>
            {scopeTitle(me.scope)} ({scopeKind(me.scope)})
          </dd>
          <dt>Roles</dt>
          <dd>{me.roles.join(", ") || "none"}</dd>
        </dl>
        {scopes && <ScopeList scopes={scopes} fail={setProblem} chosen={switched} />}
        <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
        <div class="actions">
          {me.can_switch_scope && !scopes && <button onClick={() => void show()}>Switch scope</button>}
          <button onClick={() => mayLeave() && void signOut()}>Sign out</button>
        </div>
      </div>
    </details>
  );
}

function closeFromOutside(menu: { current: HTMLDetailsElement | null }): () => void {
  function close(event: Event): void {
    const isOutside = !menu.current?.contains(event.target as Node);
    const isEscape = event instanceof KeyboardEvent && event.key === "Escape";
    if (menu.current?.open && (isEscape || (event.type === "click" && isOutside))) {
      menu.current.open = false;
      if (isEscape) menu.current.querySelector("summary")?.focus();
    }
  }
  document.addEventListener("click", close);
  document.addEventListener("keydown", close);
  return () => {
    document.removeEventListener("click", close);
    document.removeEventListener("keydown", close);
  };
}
