import { expect, test } from "vitest";
import type { InboxItem } from "../api/schema";
import { bellText, itemPath, itemText, kindText, readPercent } from "./words";

const ITEM: InboxItem = {
  number: 3,
  at: 1,
  kind: "partly_approved",
  text: "",
  author: { type: "user", id: "u", name: "alice" },
  quota_request: 12,
  domain: { id: "D", name: "acme" },
  project: { id: "P", name: "shop" },
  unread: true,
};

test("what has happened to a request, and where it is", () => {
  expect(itemText(ITEM)).toBe("Request 12 of project shop was approved in part");
  expect(itemPath(ITEM)).toBe("/ui/domains/D/projects/P/requests/12");
  const { project: _, ...ofDomain } = ITEM;
  expect(itemText(ofDomain)).toBe("Request 12 of domain acme was approved in part");
  expect(itemPath(ofDomain)).toBe("/ui/domains/D/requests/12");
});

test("what the bell says", () => {
  expect(bellText(0, { critical: 0, warning: 0 })).toBe("No alerts");
  expect(bellText(0, undefined)).toBe("Nothing new");
  expect(bellText(1, { critical: 2, warning: 1 })).toBe("1 unread decision; 3 alerts, 2 critical");
  expect(bellText(0, { critical: 0, warning: 1 })).toBe("1 alert");
  expect(bellText(2, undefined)).toBe("2 unread decisions");
});

test("kinds of mail, also new ones", () => {
  expect(kindText("quota_used")).toBe("A quota is nearly used up");
  expect(kindText("moon_is_full")).toBe("moon is full");
});

test("percentages", () => {
  expect(["1", " 70 ", "100"].map(readPercent)).toEqual([1, 70, 100]);
  expect(["", "0", "101", "7.5", "-3", "x", "007"].map(readPercent)).toEqual(Array(7).fill(undefined));
});
