import { expect, it } from "vitest";
import type { QuotaChange as Change } from "../api/schema";
import { whoOf, whyOf } from "./changes";

const change = (more: Partial<Change>) => ({ reason: "request", detail: "", initiator: { type: "job", name: "" }, ...more }) as Change;

it("gives the reason, and what it was about", () => {
  const detail = "61440 MiB for usage and commitments, 12288 MiB for growth (51200 MiB used, 61440 MiB committed)";
  expect(whyOf(change({ reason: "autogrow", detail }))).toBe(
    "computed automatically: 60 GiB for usage and commitments, 12 GiB for growth (50 GiB used, 60 GiB committed)",
  );
  expect(whyOf(change({ reason: "temporary-quota" }))).toBe("because a quota for a time started or ended");
});

it("names the job, else the user", () => {
  expect(whoOf(change({ initiator: { type: "job", name: "autogrow" } as Change["initiator"] }))).toBe("Limes (autogrow)");
  expect(whoOf(change({ initiator: { type: "user", name: "bert" } as Change["initiator"] }))).toBe("bert");
  expect(whoOf(change({ initiator: { type: "user" } as Change["initiator"] }))).toBe("an unknown user");
});
