// The frame of the pages before one is in.
import type { ComponentChildren } from "preact";
import { Logo } from "../components/Logo";
import { cloudTitle } from "./store";

export function Door({ children }: { children: ComponentChildren }) {
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
