import { expect, it } from "vitest";
import { serviceFigures } from "../api/report";
import { selected } from "./Services";

const compute = serviceFigures({ type: "compute", area: "compute", scraped_at: 7, resources: [{ name: "cores", usage: 0 }] });
const unread = serviceFigures({
  type: "volume",
  area: "storage",
  resources: [],
  scrape_problem: { since: 7, message: "the backend of service volume has been failing" },
});
const waiting = serviceFigures({ type: "dns", area: "network", resources: [] });

it("keeps a service of which nothing is known, with the reason", () => {
  expect(selected([compute, unread, waiting], "", false).map((one) => [one.type, one.problem])).toEqual([
    ["compute", undefined],
    ["volume", "the backend of service volume has been failing"],
  ]);
  expect(selected([compute, unread], "cores", false).map((one) => one.type)).toEqual(["compute"]);
  expect(selected([compute, unread], "", true).map((one) => one.type)).toEqual(["volume"]);
});
