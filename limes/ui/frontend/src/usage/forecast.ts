// When usage reaches its limits, in words.
import type { LimitForecast, ResourceForecast } from "../api/schema";
import { format } from "../lib/units";

const DAY = 86400;
const SIZES = [
  { word: "years", days: 365, least: 730 },
  { word: "months", days: 30.4, least: 61 },
  { word: "weeks", days: 7, least: 14 },
];
const REACHED = { capacity: "All capacity", quota: "All quota", commitments: "All that is committed" };

function ahead(time: number, now: number): { number: number; word: string } {
  const days = Math.max(Math.round((time - now) / DAY), 0);
  const size = SIZES.find((one) => days >= one.least);
  return size ? { number: Math.round(days / size.days), word: size.word } : { number: days, word: days === 1 ? "day" : "days" };
}

const inWords = (time: number, now: number): string => {
  const { number, word } = ahead(time, now);
  return `${number} ${word}`;
};

/** ` (3 to 9 weeks)`; nothing if both are the same. */
function range(earliest: number, latest: number | undefined, now: number): string {
  if (latest === undefined) return ` (${inWords(earliest, now)} at the earliest)`;
  const [first, last] = [ahead(earliest, now), ahead(latest, now)];
  if (first.number === last.number && first.word === last.word) return "";
  return first.word === last.word ? ` (${first.number} to ${last.number} ${last.word})` : ` (${inWords(earliest, now)} to ${inWords(latest, now)})`;
}

/** `All quota (100) is expected to be used in about 5 weeks (3 to 9 weeks).` */
export function limitText({ limit, amount, at, earliest, latest }: LimitForecast, unit: string, now: number): string {
  const what = `${REACHED[limit]} (${format(amount, unit)}) is`;
  if (at !== undefined && at <= now) return `${what} used.`;
  if (at !== undefined) return `${what} expected to be used in about ${inWords(at, now)}${range(earliest ?? at, latest, now)}.`;
  if (earliest !== undefined) return `${what} not expected to be used up, but if usage grows, then in ${inWords(earliest, now)} at the earliest.`;
  return `${what} not expected to be used up: no end in sight.`;
}

/** A sentence for each limit, or how long to wait for a forecast. */
export function forecastText(forecast: ResourceForecast, now: number): string {
  const { limits, unit = "", missing_days: missing } = forecast;
  if (missing !== undefined) return `A forecast needs a week of data: ${missing} more ${missing === 1 ? "day" : "days"}.`;
  return limits.map((limit) => limitText(limit, unit, now)).join(" ");
}
