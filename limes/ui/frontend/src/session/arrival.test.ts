import { expect, it } from "vitest";
import { answerAt } from "./arrival";

it("finds the answer in the address", () => {
  expect(answerAt("/ui/sign-in/acme", "?code=c%2B1&state=s&iss=https%3A%2F%2Fid.example.com&session_state=x")).toEqual({
    method: "provider",
    provider: "acme",
    code: "c+1",
    state: "s",
    iss: "https://id.example.com",
  });
  expect(answerAt("/ui/sign-in/acme", "?error=access_denied&state=s")).toEqual({ method: "provider", provider: "acme", error: "access_denied", state: "s" });
});

it("finds none elsewhere", () => {
  for (const path of ["/ui", "/ui/sign-in", "/ui/sign-in/a/b", "/ui/domains/sign-in/acme"]) expect(answerAt(path, "?code=c")).toBeUndefined();
});
