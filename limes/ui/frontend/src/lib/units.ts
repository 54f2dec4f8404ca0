// Amounts for people and back. The rules are those of the API: integers in the resource's unit, and nothing rounds.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;
const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

export const UNLIMITED = -1;

function bytes(unit: string): number {
  return 1024 ** Math.max(0, UNITS.indexOf(unit as (typeof UNITS)[number]));
}

/** An amount as people read it: `1.5 TiB`, `12,000`, `unlimited`. Rounded to two places. */
export function format(amount: number, unit = ""): string {
  if (amount === UNLIMITED) return "unlimited";
  if (!unit) return NUMBER.format(amount);
  let index = Math.max(0, UNITS.indexOf(unit as (typeof UNITS)[number]));
  let value = amount;
  while (Math.abs(value) >= 1024 && index < UNITS.length - 1) {
    value /= 1024;
    index += 1;
  }
  return `${NUMBER.format(value)} ${UNITS[index]}`;
}

/** An amount that reads back as exactly the same: for input fields. */
export function formatExact(amount: number, unit = ""): string {
  if (!unit) return String(amount);
  let index = Math.max(0, UNITS.indexOf(unit as (typeof UNITS)[number]));
  let value = amount;
  while (value !== 0 && value % 1024 === 0 && index < UNITS.length - 1) {
    value /= 1024;
    index += 1;
  }
  return `${value} ${UNITS[index]}`;
}

export function percent(part: number, whole: number): string {
  if (whole <= 0) return part > 0 ? "over" : "0 %";
  return `${Math.round((100 * part) / whole)} %`;
}

/** What the user typed: an amount in the resource's unit, or what is wrong with it. */
export type Parsed = { amount: number; problem?: never } | { problem: string; amount?: never };

const VALUE = /^(\d[\d,_ ]*(?:\.\d+)?)\s*([a-z]*)$/i;

/**
 * Reads `200 GiB`, `1.5 TiB`, `200g`, `12`, and, with a present amount, `+10%`, `-5`, `+2 GiB`.
 * A number without a unit is in the unit of the resource.
 */
export function parse(text: string, unit = "", present?: number): Parsed {
  const trimmed = text.trim();
  const sign = trimmed.startsWith("+") ? 1 : trimmed.startsWith("-") ? -1 : 0;
  if (sign !== 0 && present !== undefined) return change(trimmed.slice(1).trim(), unit, present, sign);
  return absolute(trimmed, unit);
}

function change(text: string, unit: string, present: number, sign: number): Parsed {
  const share = /^(\d+(?:\.\d+)?)\s*%$/.exec(text);
  const step = share ? { amount: Math.ceil((present * Number(share[1])) / 100) } : absolute(text, unit);
  return step.amount === undefined ? step : checked(present + sign * step.amount, unit);
}

function absolute(text: string, unit: string): Parsed {
  const match = VALUE.exec(text);
  if (!match) return { problem: unit ? `Write an amount such as 10 ${unit}` : "Enter a whole number" };
  const value = Number(match[1]!.replace(/[,_ ]/g, ""));
  const given = match[2] ? findUnit(match[2], unit) : unit;
  if (given === undefined) {
    return { problem: unit ? `Unknown unit ${match[2]}: use ${UNITS.join(", ")}` : "This resource is counted: no unit" };
  }
  return checked((value * bytes(given)) / bytes(unit), unit);
}

function findUnit(name: string, unit: string): string | undefined {
  if (!unit) return undefined;
  const letter = name.toLowerCase().replace(/i?b$/, "");
  return UNITS.find((one) => one.toLowerCase().replace(/i?b$/, "") === letter);
}

function checked(amount: number, unit: string): Parsed {
  if (!Number.isInteger(amount)) return { problem: unit ? `Not a whole number of ${unit}` : "Enter a whole number" };
  if (amount < 0) return { problem: "Must not be below zero" };
  return amount > Number.MAX_SAFE_INTEGER ? { problem: "Too large" } : { amount };
}
