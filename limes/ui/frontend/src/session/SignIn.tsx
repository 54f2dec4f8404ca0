// The sign-in page. Whatever page was asked for appears behind it.
import type { ComponentChildren, TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { Field } from "../components/Field";
import { Logo } from "../components/Logo";
import { Providers } from "./Providers";
import { SampleIdentities } from "./SampleIdentities";
import { leaveFor, signIn } from "./requests";
import { arrivalProblem, cloudTitle, message, offer } from "./store";
import type { Credentials, Offer } from "./types";

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
  const providers = offer.value?.providers ?? [];
  const ways = waysOf(offer.value);
  const [way, setWay] = useState<Way>(sample ? "token" : ways[0]!);
  const [problem, setProblem] = useState(arrivalProblem.value);
  const [isBusy, setIsBusy] = useState(false);

  async function attempt(work: Promise<unknown>): Promise<void> {
    setProblem("");
    setIsBusy(true);
    try {
      if ((await work) === false) setIsBusy(false);
    } catch (error) {
      setProblem((error as Error).message);
      setIsBusy(false);
    }
  }

  const enter = (what: Credentials): Promise<void> => attempt(signIn(what));

  function submit(event: TargetedSubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    void enter(credentials(way, new FormData(event.currentTarget)));
  }

  const alert = <div role="alert">{problem && <p class="problem">{problem}</p>}</div>;
  const form = (
    <>
      {!sample && <Ways ways={ways} way={way} choose={setWay} />}
      <form onSubmit={submit} aria-busy={isBusy}>
        <Fields way={way} problem={problem} />
        {providers.length === 0 && alert}
        <button class={sample || providers.length > 0 ? "" : "primary"} disabled={isBusy}>
          {isBusy ? "Signing in…" : sample ? "Sign in with this token" : "Sign in"}
        </button>
      </form>
    </>
  );
  return (
    <SignInFrame>
      <p class="muted">Quota, usage and commitments of this cloud</p>
      <div role="status">{message.value && <p class="note">{message.value}</p>}</div>
      {sample && <SampleIdentities identities={sample} isBusy={isBusy} enter={enter} />}
      {providers.length > 0 && (
        <>
          {alert}
          <Providers providers={providers} isBusy={isBusy} leave={(provider) => attempt(leaveFor(provider))} />
        </>
      )}
      {providers.length > 0 ? <OtherWays isOpen={ways.includes("password")}>{form}</OtherWays> : form}
    </SignInFrame>
  );
}

function waysOf(of: Offer | null): Way[] {
  const all = Object.keys(WAYS) as Way[];
  return of?.method === "keystone" && !of.passwords ? all.filter((way) => way !== "password") : all;
}

function OtherWays({ isOpen, children }: { isOpen: boolean; children: ComponentChildren }) {
  return (
    <details class="other-ways" open={isOpen}>
      <summary>Other ways to sign in</summary>
      {children}
    </details>
  );
}

function Ways(props: { ways: Way[]; way: Way; choose: (way: Way) => void }) {
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">Sign in with</legend>
      {props.ways.map((key) => (
        <label key={key}>
          <input type="radio" name="way" checked={props.way === key} onChange={() => props.choose(key)} />
          <span>{WAYS[key]}</span>
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
