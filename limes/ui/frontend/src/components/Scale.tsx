// What the ends of bars mean: below bars that share a scale.
import { format } from "../lib/units";

/** A last line of a list of bars. Nothing for programs that read out: each bar says its own figures. */
export function Scale({ most, unit }: { most: number; unit: string }) {
  if (most <= 0) return null;
  return (
    <li class="scale-line" aria-hidden="true">
      <span class="scale">
        <span>0</span>
        <span>{format(most, unit)}</span>
      </span>
    </li>
  );
}
