// What the parts of a bar mean.
import type { Level } from "../lib/paths";

const GIVEN: Record<Level, string> = { cloud: "given to domains", domain: "given to projects", project: "" };

export function Legend({ level }: { level: Level }) {
  return (
    <ul class="legend" aria-label="Colours of the bars">
      <li data-part="usage">used</li>
      <li data-part="limit">{level === "cloud" ? "capacity" : "quota"}</li>
      <li data-part="committed">committed</li>
      <li data-part="over">{level === "cloud" ? "beyond capacity" : "beyond quota"}</li>
      {GIVEN[level] && <li data-part="mark">{GIVEN[level]}</li>}
    </ul>
  );
}
