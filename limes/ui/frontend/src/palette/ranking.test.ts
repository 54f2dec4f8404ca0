import { expect, it } from "vitest";
import { indexOf, type Item, type Kind, search } from "./ranking";

const item = (title: string, more: Partial<Item> = {}): Item => ({ kind: "project", title, hint: "in acme", href: `/ui/${title}`, ...more });
const titles = (items: Item[], text: string, limit = 20) => search(indexOf(items), text, limit).items.map((one) => one.title);

it("has what is equal first, then what begins so, then words that do, then the rest", () => {
  expect(titles([item("webshop"), item("my-shop"), item("shop-staging"), item("shop"), item("other")], "SHOP ")).toEqual(["shop", "shop-staging", "my-shop", "webshop"]);
});

it("finds ids, a whole one before everything else", () => {
  const items = [item("a", { id: "0f3c11" }), item("b", { id: "c110f3" }), item("0f3c11 too", { id: "ffff" })];
  expect(titles(items, "0F3C11")).toEqual(["a", "0f3c11 too"]);
  expect(titles(items, "0f3")).toEqual(["0f3c11 too", "a", "b"]);
  expect(titles(items, "f3")).toEqual(["0f3c11 too"]); // too short for ids
});

it("finds several words, also where it is", () => {
  expect(titles([item("shop"), item("shop", { hint: "in school" }), item("quota of shop")], "school shop")).toEqual(["shop"]);
  expect(titles([item("Set quota", { kind: "page", hint: "project shop" })], "quota shop")).toEqual(["Set quota"]);
});

it("has few things before many, and short titles before long ones", () => {
  const kinds: Kind[] = ["project", "domain", "resource", "page"];
  expect(search(indexOf(kinds.map((kind) => item(`c-${kind}`, { kind }))), "c", 9).items.map((one) => one.kind)).toEqual(kinds.toReversed());
  expect(titles([item("abcd"), item("abc"), item("abb")], "ab")).toEqual(["abb", "abc", "abcd"]);
});

it("says how many there are, and shows some", () => {
  const found = search(indexOf(Array.from({ length: 50 }, (_, number) => item(`p${number}`))), "p", 20);
  expect([found.items.length, found.total]).toEqual([20, 50]);
  expect(search(indexOf([item("a")]), "x", 20)).toEqual({ items: [], total: 0 });
  expect(titles([item("b"), item("a")], "")).toEqual(["a", "b"]);
});

it("takes no characters for patterns", () => {
  expect(titles([item("a.c"), item("abc"), item("[x]")], "a.c")).toEqual(["a.c"]);
  expect(titles([item("[x]"), item("x")], "[")).toEqual(["[x]"]);
});

it("is fast at 5,000 projects", () => {
  const letters = "abcdefghij";
  const name = (number: number) => [...String(number)].map((digit) => letters[Number(digit)]).join("-");
  const items = Array.from({ length: 5000 }, (_, number) => item(`${name(number)} lab`, { id: number.toString(16).padStart(32, "0") }));
  const started = performance.now();
  const index = indexOf(items);
  const built = performance.now();
  const times = ["a", "lab", "b-c", "00000", "lab acme", "nothing"].map((text) => {
    const before = performance.now();
    search(index, text, 20);
    return `${text}: ${(performance.now() - before).toFixed(1)} ms`;
  });
  console.info(`5,000 projects: index ${(built - started).toFixed(1)} ms; ${times.join("; ")}`); // a time never fails a test
  expect(search(index, "lab", 20).total).toBe(5000);
});
