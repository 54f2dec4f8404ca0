// Single sign-on: a button for each provider, which leaves the page.
import type { Provider } from "./types";

interface Props {
  providers: Provider[];
  isBusy: boolean;
  leave: (provider: string) => Promise<void>;
}

export function Providers({ providers, isBusy, leave }: Props) {
  return (
    <ul class="providers" aria-label="Single sign-on">
      {providers.map((one) => (
        <li key={one.id}>
          <button class="primary" disabled={isBusy} onClick={() => void leave(one.id)}>
            Sign in with {one.label}
          </button>
        </li>
      ))}
    </ul>
  );
}
