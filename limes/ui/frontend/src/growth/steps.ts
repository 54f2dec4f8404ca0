// Why a quota that grows by itself is what it is, in words.
import type { Explanation } from "../api/schema";
import { readable } from "../lib/messages";
import { format } from "../lib/units";

type Growth = NonNullable<Explanation["growth"]>;
type Step = Growth["steps"][number];

const STEPS: Record<Step["step"], string> = {
  needed: "For usage and commitments",
  "recent-usage": "For recent usage",
  growth: "For growth",
  base: "For the base quota, in no particular zone",
  minimum: "For the minimum of the project",
};

const SOURCES: Record<NonNullable<Growth["maximum"]>["source"], string> = {
  override: "set by the operator",
  "max-quota": "limit of growth",
  "min-quota": "granted to the project",
  constraint: "the operator’s constraint",
  backend: "what the backend accepts",
};

const total = (amounts: Record<string, number> | undefined): number => Object.values(amounts ?? {}).reduce((sum, one) => sum + one, 0);

/** One line for each step: what it is for, and how much it has given. */
export function stepTexts({ steps }: Growth, unit: string | undefined): [string, string][] {
  return steps.map((one) => {
    const lacking = total(one.lacking);
    const remarks = [
      lacking > 0 && `no capacity for ${format(lacking, unit)} more`,
      one.capped && `${format(one.capped, unit)} less because of a bound`,
    ].filter(Boolean);
    return [STEPS[one.step], [format(one.quota, unit), ...remarks].join(", ")];
  });
}

/** What bounds the growth. */
export function boundTexts({ minimum, maximum, forbid_autogrowth: isForbidden }: Growth, unit: string | undefined): string[] {
  const texts: string[] = [];
  if (isForbidden) texts.push("It does not grow: it is only what usage and commitments need.");
  if (minimum && minimum.quota === maximum?.quota) return [`It is ${format(minimum.quota, unit)}: ${SOURCES[minimum.source]}.`];
  if (minimum) texts.push(`At least ${format(minimum.quota, unit)}: ${SOURCES[minimum.source]}.`);
  if (maximum) texts.push(`At most ${format(maximum.quota, unit)}: ${SOURCES[maximum.source]}.`);
  return texts;
}

/** What would raise it, in the words of the page. */
export function adviceText(message: string): string {
  const text = readable(message).replace("max_quota", "the limit of growth");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
