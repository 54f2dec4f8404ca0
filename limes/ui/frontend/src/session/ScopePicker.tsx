// After a password: what is the token to be for?
import { useState } from "preact/hooks";
import { Door } from "./Door";
import { ScopeList } from "./ScopeList";
import { scopes, session, signOut } from "./store";

export function ScopePicker() {
  const [problem, setProblem] = useState("");
  return (
    <Door>
      <p>
        Signed in as <strong>{session.value?.user.name}</strong>. What do you want to work on?
      </p>
      <ScopeList scopes={scopes.value} fail={setProblem} />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      {scopes.value.length === 0 && <p class="note">You have no role on any project or domain.</p>}
      <button onClick={() => void signOut()}>Sign out</button>
    </Door>
  );
}
