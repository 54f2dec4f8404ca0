// Messages of the API in the words of the page.
import { formatTime } from "./time";
import { formatExact } from "./units";

const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
const AMOUNT = /\b(\d{4,15}) ([KMGTP]iB)\b/g;
const START = /`?\bconfirm_by\b`?(?: timestamp)?/g;

/**
 * Times as everywhere on the page: `2027-05-03T12:00:00Z` is `3 May 2027, 12:00`. Amounts in a unit of their size:
 * `81920 MiB` is `80 GiB`, and nothing is rounded. What the form calls a start is no `confirm_by`.
 */
export function readable(message: string): string {
  return message
    .replace(START, "start")
    .replace(ISO_TIME, (time) => formatTime(Date.parse(time) / 1000))
    .replace(AMOUNT, (_, amount: string, unit: string) => formatExact(Number(amount), unit));
}
