import { expect, it } from "vitest";
import { type Figures, type ServiceFigures, serviceFigures } from "../api/report";
import { selected } from "./Services";

const resource = (name: string, usage: number, title = name) => ({ service: "compute", name, title, usage, committed: 0, limit: 100 }) as unknown as Figures;
const compute = {
  type: "compute",
  area: "compute",
  scrapedAt: 1,
  resources: [resource("cores", 5, "Virtual cores"), resource("ram", 0), resource("instances", 97)],
} as unknown as ServiceFigures;
const storage = { type: "storage", area: "storage", scrapedAt: undefined, problem: "it has been failing", resources: [] } as unknown as ServiceFigures;

const names = (...options: Parameters<typeof selected>): string[] => selected(...options).flatMap((one) => [one.type, ...one.resources.map((of) => of.name)]);

it.each([
  ["", "", ["compute", "instances", "cores", "ram", "storage"]],
  ["virtual", "", ["compute", "cores"]],
  ["", "used", ["compute", "instances", "cores", "storage"]],
  ["", "full", ["compute", "instances"]],
  ["", "failing", ["storage"]],
  ["nothing of this kind", "", []],
] as const)("of %j shows %j, the fullest first", (wanted, shown, found) => expect(names([storage, compute], wanted, shown)).toEqual(found));

const unread = serviceFigures({
  type: "volume",
  area: "storage",
  resources: [],
  scrape_problem: { since: 7, message: "the backend of service volume has been failing" },
});
const waiting = serviceFigures({ type: "dns", area: "network", resources: [] });

it("keeps a service without figures, with the reason", () => {
  expect(selected([compute, unread, waiting], "", "").map((one) => [one.type, one.problem])).toEqual([
    ["compute", undefined],
    ["volume", "the backend of service volume has been failing"],
  ]);
  expect(selected([compute, unread], "cores", "").map((one) => one.type)).toEqual(["compute"]);
});
