// The axis of time of a chart.

const DAY = 86400;

/** From the first moment to the last. Around a single one there is a day, where uPlot alone would show some years. */
export function timeRange(from: number | null, to: number | null): [number, number] {
  if (from === null || to === null) return [0, DAY];
  return from < to ? [from, to] : [from - DAY / 2, from + DAY / 2];
}
