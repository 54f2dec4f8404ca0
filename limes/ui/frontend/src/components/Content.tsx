// What a page shows while its document is loading, when that fails, and when it is there.
import type { ComponentChildren } from "preact";
import { ApiError } from "../api/client";
import type { Loaded } from "../lib/load";
import { neededRoles } from "../lib/submit";
import { scopeKind, scopeTitle } from "../session/scope";
import { session } from "../session/store";

interface Props<T> {
  of: Loaded<T>;
  children: (data: T) => ComponentChildren;
}

export function Content<T>({ of, children }: Props<T>) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <Failure error={of.error} retry={of.reload} />;
  return <Skeleton />;
}

export function Skeleton() {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">Loading…</span>
      <i />
      <i />
      <i />
    </div>
  );
}

export function Failure({ error, retry }: { error: Error; retry: () => void }) {
  const status = error instanceof ApiError ? error.status : 0;
  const scope = session.value?.scope;
  const needs = neededRoles(error)?.roles;
  if (status === 403) {
    return (
      <div class="empty" role="alert">
        <h2>Not for your role</h2>
        <p>
          {session.value?.user.name} has {session.value?.roles.join(", ") || "no role"}
          {scope && ` on ${scopeTitle(scope)} (${scopeKind(scope)})`}, which does not allow this page{needs && `: it needs ${needs}`}.
          Another scope may: see the menu with your name.
        </p>
        <a href="/ui">Go to your own start page</a>
      </div>
    );
  }
  return (
    <div class="empty" role="alert">
      <h2>{status === 404 ? "Not found" : "Request failed"}</h2>
      <p>{error.message}</p>
      <button onClick={retry}>Try again</button>
    </div>
  );
}
