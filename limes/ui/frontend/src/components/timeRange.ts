// The axis of time of a chart.

const DAY = 86400;

/** From the first moment to the last. Around a single one there is a day, where uPlot alone would show some years. */
export function timeRange(times: readonly number[]): [number, number] {
  const [from, to] = [times[0], times.at(-1)];
  if (from === undefined || to === undefined) return [0, DAY];
  return from < to ? [from, to] : [from - DAY / 2, from + DAY / 2];
}
