import { afterEach, expect, test, vi } from "vitest";
import { loadRequest } from "./requests";

afterEach(() => vi.unstubAllGlobals());

const DOMAIN = { id: "d", name: "germany" };

test("a long conversation is loaded page by page, the latest first", async () => {
  const asked: string[] = [];
  const pages: Record<string, [string[], string[]]> = {
    "/v1/domains/d/quota-requests/12": [["e", "f"], ["/v1/domains/d/quota-requests/12?marker=5"]],
    "/v1/domains/d/quota-requests/12?marker=5": [["c", "d"], ["/v1/domains/d/quota-requests/12?marker=3"]],
    "/v1/domains/d/quota-requests/12?marker=3": [["a", "b"], []],
  };
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    const [texts, links] = pages[path] ?? [[], []];
    return Response.json({
      quota_request: { id: 12, domain: DOMAIN, conversation: texts.map((text) => ({ text })) },
      conversation_links: links.map((href) => ({ rel: "next", href })),
    });
  });
  const { conversation } = await loadRequest({ domain: "d", project: undefined }, "12");
  expect(conversation.map(({ text }) => text)).toEqual(["a", "b", "c", "d", "e", "f"]);
  expect(asked).toEqual(Object.keys(pages));
});
