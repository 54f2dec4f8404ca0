import { expect, it } from "vitest";
import type { CapacitorScrape, ServiceScrapes } from "../api/schema";
import { failingOf } from "./failing";

const service = (more: Partial<ServiceScrapes> = {}): ServiceScrapes => ({ type: "compute", area: "compute", projects: 5, min_scraped_at: 1e9, ...more });
const texts = (services: ServiceScrapes[], capacitors: CapacitorScrape[] = []): string[] =>
  failingOf({ services, capacitors }).map((one) => one.text);

it("has nothing to say where all is well", () => expect(texts([service()], [{ id: "nova", scraped_at: 1e9 }])).toEqual([]));

it.each([
  [{ failing_projects: 1, failing_since: 1e9 }, /^Service compute has been failing in 1 of 5 projects since 9 Sept? 2001.*; the oldest figures are from/],
  [{ failing_projects: 5 }, /in all 5 projects; the oldest/],
  [{ projects: 1, failing_projects: 1, min_scraped_at: undefined }, /in the only project; there are no figures yet$/],
  [{ unwritten_projects: 1 }, /does not take the quota of 1 project$/],
  [{ is_stale: true as const }, /was not read for a long time/],
])("of a service: %j", (more, text) => expect(texts([service(more as Partial<ServiceScrapes>)])[0]).toMatch(text));

it("names capacitors, and not what they say", () => {
  const [text] = texts([], [{ id: "nova", scraped_at: 1e9, checked_at: 1e9, message: "no route to 10.0.0.7" }]);
  expect(text).toMatch(/^Capacitor nova has failed .*; its figures are from/);
  expect(text).not.toMatch(/10\.0/);
});
