import { expect, it } from "vitest";
import { relative } from "./time";

it.each([
  [0, "just now"],
  [-59, "just now"],
  [-60, "1 minute ago"],
  [3 * 86400, "in 3 days"],
  [-400 * 86400, "last year"],
])("%d seconds from now is %s", (difference, text) => expect(relative(1e9 + difference, 1e9)).toBe(text));
