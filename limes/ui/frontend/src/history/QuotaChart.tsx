// The quota of one resource over time.
import { useMemo } from "preact/hooks";
import type { Explanation, QuotaChange as Change } from "../api/schema";
import { lazily } from "../lib/lazily";
import { format } from "../lib/units";
import { stepsOf } from "./steps";

const Chart = lazily(() => import("../components/Chart"), "h2");

export function QuotaChart({ changes, explanation }: { changes: Change[]; explanation: Explanation }) {
  const { quota, unit = "" } = explanation;
  const steps = useMemo(() => stepsOf(changes, quota, Math.floor(Date.now() / 1000)), [changes, quota]);
  const lines = useMemo(() => [{ title: "Quota", amounts: steps.amounts, colour: "--usage", isStepped: true, isFilled: true }], [steps]);
  if (steps.times.length < 2) return <p class="muted">No changes of this quota are known.</p>;
  const label = `Quota over time: ${steps.amounts.length} steps, now ${format(quota, unit)}. The table below has all of them.`;
  return <Chart label={label} times={steps.times} lines={lines} unit={unit} />;
}
