// What /ui/session answers (limes/ui/sign_in.py).

export interface Named {
  id: string;
  name: string | null;
}

export type Scope = { project: Named & { domain: Named } } | { domain: Named } | { system: "all" };

export interface User extends Named {
  domain: Named;
}

export interface Session {
  token: string;
  is_ours: boolean;
  expires_at: number | null;
  user: User;
  scope: Scope | null;
  roles: string[];
  can_switch_scope: boolean;
}

export interface SampleIdentity {
  token: string;
  user: User;
  scope: Scope | null;
  roles: string[];
}

/** Of single sign-on. */
export interface Provider {
  id: string;
  label: string;
}

export type Offer = { providers: Provider[] } & (
  | { method: "keystone"; user_domain: string; passwords: boolean }
  | { method: "sample"; identities: SampleIdentity[] }
);

/** What a provider has sent the browser back with; Keystone's WebSSO brings a token. */
export type ProviderAnswer = { method: "provider"; provider: string } & Partial<Record<"token" | "code" | "state" | "iss" | "error", string>>;

export type Credentials =
  | { method: "password"; user: string; user_domain: string; password: string; passcode?: string }
  | { method: "token"; token: string }
  | { method: "application_credential"; id: string; secret: string }
  | { method: "scope"; scope: { project: string } | { domain: string } | { system: "all" } }
  | ProviderAnswer;

export interface SessionAnswer {
  session: Session | null;
  scopes?: Scope[];
  sign_in?: Offer;
  title?: string;
  /** After single sign-on: the page that one was at. */
  return_to?: string;
}
