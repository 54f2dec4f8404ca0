// Backends and capacitors that fail, above everything else, with the age of the figures.
import { StateIcon } from "../components/StateMark";
import type { Failing } from "./failing";

interface Props {
  failing: Failing[];
  /** Where more is said. */
  more?: { title: string; href: string } | undefined;
}

const MOST = 4;

export function Banner({ failing, more }: Props) {
  if (failing.length === 0) return null;
  return (
    <section class="banner" aria-label="Failing backends">
      <StateIcon state="over" />
      <div>
        <ul>
          {failing.slice(0, MOST).map((one) => (
            <li key={one.key}>{one.text}.</li>
          ))}
        </ul>
        {failing.length > MOST && <p>And {failing.length - MOST} more.</p>}
        {more && <a href={more.href}>{more.title}</a>}
      </div>
    </section>
  );
}
