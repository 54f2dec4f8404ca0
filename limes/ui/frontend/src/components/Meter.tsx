// One bar for quota (or capacity), usage and commitments.
import type { Level } from "../lib/paths";
import { stateOf } from "../lib/state";
import { format, percent } from "../lib/units";

interface Props {
  usage: number;
  limit: number | undefined;
  committed?: number;
  /** What was given to the level below: a mark on the bar. */
  distributed?: number | undefined;
  unit: string;
  limitName: string;
  /** The amount at the right end, to make several bars comparable. */
  scale?: number;
}

/** What is shown where, in percent of the bar. */
export interface Shape {
  limit: number;
  usage: number;
  over: number;
  committed: number;
  distributed: number | undefined;
}

export function shapeOf(props: Pick<Props, "usage" | "limit" | "committed" | "distributed" | "scale">): Shape {
  const { usage, limit, committed = 0, distributed } = props;
  const most = Math.max(usage, limit ?? 0, committed);
  // where far more was given on than there is, its mark stays at the right end, and the rest can still be read
  const end = props.scale ?? Math.max(most, Math.min(distributed ?? 0, 1.25 * most));
  const at = (amount: number): number => (end > 0 ? Math.min(100, (100 * amount) / end) : 0);
  const within = Math.min(usage, limit ?? usage);
  return {
    limit: limit === undefined ? 100 : at(limit),
    usage: at(within),
    over: at(usage) - at(within),
    committed: at(committed),
    distributed: distributed === undefined ? undefined : at(distributed),
  };
}

function used({ usage, limit, unit, limitName }: Props): string {
  if (limit === undefined) return `${format(usage, unit)} used`;
  if (limit === 0) return usage === 0 ? `no ${limitName}, nothing used` : `${format(usage, unit)} used without ${limitName}`;
  return `${format(usage, unit)} of ${format(limit, unit)} ${limitName} used (${percent(usage, limit)})`;
}

export function describe(props: Props): string {
  const { committed = 0, distributed, unit } = props;
  const parts = [used(props)];
  if (distributed !== undefined) parts.push(`${format(distributed, unit)} given on`);
  if (committed > 0) parts.push(`${format(committed, unit)} committed`);
  return parts.join(", ");
}

const width = (share: number) => ({ width: `${share}%` });

export function Meter(props: Props) {
  const shape = shapeOf(props);
  return (
    <div class="meter" role="img" data-state={stateOf(props.usage, props.limit)} aria-label={describe(props)}>
      <i class="meter-limit" style={width(shape.limit)} />
      <i class="meter-usage" style={width(shape.usage)} />
      {shape.over > 0 && <i class="meter-over" style={{ left: `${shape.usage}%`, ...width(shape.over) }} />}
      {shape.committed > 0 && <i class="meter-committed" style={width(shape.committed)} />}
      {shape.distributed !== undefined && <i class="meter-mark" style={{ left: `${shape.distributed}%` }} />}
    </div>
  );
}

const BEYOND: Record<Level, string> = { cloud: "domain quota above capacity", domain: "project quota above domain quota", project: "" };
const GIVEN: Record<Level, string> = { cloud: "given to domains", domain: "given to projects", project: "" };

export function Legend({ level }: { level: Level }) {
  return (
    <ul class="legend" aria-label="Colours of the bars">
      <li data-part="usage">used</li>
      <li data-part="high">above 80 %</li>
      <li data-part="critical">above 95 %</li>
      <li data-part="limit">{level === "cloud" ? "capacity" : "quota"}</li>
      <li data-part="committed">committed</li>
      <li data-part="over">{level === "cloud" ? "beyond capacity" : "beyond quota"}</li>
      {GIVEN[level] && <li data-part="mark">{GIVEN[level]}</li>}
      {BEYOND[level] && <li data-part="beyond">{BEYOND[level]}</li>}
    </ul>
  );
}
