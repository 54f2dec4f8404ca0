// The identities of a sample cloud, as buttons: there anybody can be anybody.
import { scopeKind, scopeTitle } from "./scope";
import type { Credentials, SampleIdentity } from "./types";

interface Props {
  identities: SampleIdentity[];
  isBusy: boolean;
  enter: (credentials: Credentials) => Promise<void>;
}

export function SampleIdentities({ identities, isBusy, enter }: Props) {
  return (
    <section aria-labelledby="sample-title">
      <h2 id="sample-title">Sample identities</h2>
      <p class="muted">This cloud is a sample: choose who you want to be.</p>
      <ul class="choices">
        {identities.map((one) => (
          <li key={one.token}>
            <button disabled={isBusy} onClick={() => void enter({ method: "token", token: one.token })}>
              <strong>{one.user.name}</strong>
              <span>
                {one.roles.join(", ")}
                {one.scope && ` · ${scopeTitle(one.scope)} (${scopeKind(one.scope)})`}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
