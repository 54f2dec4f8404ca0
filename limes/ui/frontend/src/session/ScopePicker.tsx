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
        Signed in as <strong>{session.value?.user.name}</strong>.{scopes.value.length > 0 && " What do you want to work on?"}
      </p>
      <ScopeList scopes={scopes.value} fail={setProblem} />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      {scopes.value.length === 0 && <NoRoles />}
      <button onClick={() => void signOut()}>Sign out</button>
    </SignInFrame>
  );
}

/** Keystone knows the user, and has nothing for them. */
function NoRoles() {
  const domain = session.value?.user.domain.name;
  return (
    <p class="note">
      Keystone knows you{domain && ` as a user of the domain ${domain}`}, but you have no role on any project or domain. Ask an administrator of the domain or the
      operators of this cloud for one, then sign in again.
    </p>
  );
}
