// After a password: what is the token to be for?
import { useState } from "preact/hooks";
import { ScopeList } from "./ScopeList";
import { SignInFrame } from "./SignIn";
import { signOut } from "./requests";
import { scopes, session } from "./store";

export function ScopePicker() {
  const [problem, setProblem] = useState("");
  return (
    <SignInFrame>
      <p>
        Signed in as <strong>{session.value?.user.name}</strong>. What do you want to work on?
      </p>
      <ScopeList scopes={scopes.value} fail={setProblem} />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      {scopes.value.length === 0 && <p class="note">You have no role on any project or domain. An admin of a project or domain can give you one in Keystone.</p>}
      <button onClick={() => void signOut()}>Sign out</button>
    </SignInFrame>
  );
}
