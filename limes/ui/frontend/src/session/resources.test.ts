import { expect, it } from "vitest";
import type { ResourcesAnswer } from "../api/schema";
import { figures } from "../api/report";
import { infosOf, resources, resourceTitle } from "./resources";

const service = (type: string, ...listed: { name: string; display_name?: string }[]) => ({ type, area: type, resources: listed });
const CLOUD = {
  services: [
    service("object-store", { name: "capacity" }),
    service("shared", { name: "capacity" }, { name: "shares" }),
    service("volumes", { name: "size", display_name: "shares" }),
  ],
} as unknown as ResourcesAnswer;

it("names the service of resources that share a title, and of no others", () => {
  expect(infosOf(CLOUD).map((one) => one.title)).toEqual(["capacity (object-store)", "capacity (shared)", "shares (shared)", "shares (volumes)"]);
  expect(infosOf({ services: [CLOUD.services[0]!] }).map((one) => one.title)).toEqual(["capacity"]);
});

it("calls them the same in reports as in lists", () => {
  resources.value = infosOf(CLOUD);
  expect(figures("shared", { name: "capacity", usage: 0 } as Parameters<typeof figures>[1]).title).toBe("capacity (shared)");
  expect(resourceTitle("shared", "capacity")).toBe("capacity (shared)");
  resources.value = undefined;
  expect(figures("volumes", { name: "size", display_name: "Size", usage: 0 } as Parameters<typeof figures>[1]).title).toBe("Size");
});
