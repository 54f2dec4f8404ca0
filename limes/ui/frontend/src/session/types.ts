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

export type Offer = { method: "keystone"; user_domain: string } | { method: "sample"; identities: SampleIdentity[] };

export type Credentials =
  | { method: "password"; user: string; user_domain: string; password: string; passcode?: string }
  | { method: "token"; token: string }
  | { method: "application_credential"; id: string; secret: string }
  | { method: "scope"; scope: { project: string } | { domain: string } | { system: "all" } };

export interface SessionAnswer {
  session: Session | null;
  scopes?: Scope[];
  sign_in?: Offer;
  title?: string;
}
