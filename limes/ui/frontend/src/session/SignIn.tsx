// The sign-in page. Whatever page was asked for appears behind it.
import type { ComponentChildren, TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { Field } from "../components/Field";
import { Logo } from "../components/Logo";
import { SampleIdentities } from "./SampleIdentities";
import { signIn } from "./requests";
import { cloudTitle, message, offer } from "./store";
import type { Credentials } from "./types";

export function SignInFrame({ children }: { children: ComponentChildren }) {
  return (
    <main class="door">
      <div class="door-card">
        <h1>
          <Logo /> {cloudTitle.value}
        </h1>
        {children}
      </div>
    </main>
  );
}

type Way = "password" | "application_credential" | "token";

const WAYS: Record<Way, string> = {
  password: "Password",
  application_credential: "Application credential",
  token: "Token",
};

function text(form: FormData, name: string): string {
  return String(form.get(name) ?? "");
}

function credentials(way: Way, form: FormData): Credentials {
  if (way === "token") return { method: way, token: text(form, "token").trim() };
  if (way === "application_credential") return { method: way, id: text(form, "id").trim(), secret: text(form, "secret") };
  const passcode = text(form, "passcode").trim();
  return {
    method: way,
    user: text(form, "user").trim(),
    user_domain: text(form, "user_domain").trim(),
    password: text(form, "password"),
    ...(passcode ? { passcode } : {}),
  };
}

export function SignIn() {
  const sample = offer.value?.method === "sample" ? offer.value.identities : undefined;
  const [way, setWay] = useState<Way>(sample ? "token" : "password");
  const [problem, setProblem] = useState("");
  const [isBusy, setIsBusy] = useState(false);

  async function enter(what: Credentials): Promise<void> {
    setProblem("");
    setIsBusy(true);
    try {
      await signIn(what);
    } catch (error) {
      setProblem((error as Error).message);
      setIsBusy(false);
    }
  }

  function submit(event: TargetedSubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    void enter(credentials(way, new FormData(event.currentTarget)));
  }

  return (
    <SignInFrame>
      <p class="muted">Quota, usage and commitments of this cloud</p>
      <div role="status">{message.value && <p class="note">{message.value}</p>}</div>
      {sample && <SampleIdentities identities={sample} isBusy={isBusy} enter={enter} />}
      {!sample && <Ways way={way} choose={setWay} />}
      <form onSubmit={submit} aria-busy={isBusy}>
        <Fields way={way} problem={problem} />
        <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
        <button class={sample ? "" : "primary"} disabled={isBusy}>
          {isBusy ? "Signing in…" : sample ? "Sign in with this token" : "Sign in"}
        </button>
      </form>
    </SignInFrame>
  );
}

function Ways(props: { way: Way; choose: (way: Way) => void }) {
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">Sign in with</legend>
      {Object.entries(WAYS).map(([key, title]) => (
        <label key={key}>
          <input type="radio" name="way" checked={props.way === key} onChange={() => props.choose(key as Way)} />
          <span>{title}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Fields({ way, problem }: { way: Way; problem: string }) {
  if (way === "token") return <Field name="token" label="Token" type="password" autocomplete="off" required />;
  if (way === "application_credential") {
    return (
      <>
        <Field name="id" label="Id of the credential" autocomplete="off" required />
        <Field name="secret" label="Secret" type="password" autocomplete="off" required />
      </>
    );
  }
  const domain = offer.value?.method === "keystone" ? offer.value.user_domain : "Default";
  return (
    <>
      <Field name="user_domain" label="Domain" value={domain} autocomplete="organization" required />
      <Field name="user" label="User" autocomplete="username" required />
      <Field name="password" label="Password" type="password" autocomplete="current-password" required />
      {problem.includes("passcode") && (
        <Field name="passcode" label="One-time passcode" autocomplete="one-time-code" inputMode="numeric" />
      )}
    </>
  );
}
