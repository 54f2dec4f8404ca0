// A commitment in two lines.
import type { Commitment } from "../api/schema";
import { zoneName } from "../lib/names";
import { formatDate, relative } from "../lib/time";
import { contentOf } from "./wording";

const TONES: Record<Commitment["status"], string> = {
  planned: "plain",
  pending: "warning",
  confirmed: "",
  superseded: "plain",
  expired: "plain",
};

export function StatusTag({ of: one }: { of: Commitment }) {
  return (
    <>
      <span class={`tag ${TONES[one.status]}`}>{one.status}</span>{" "}
      {one.transferable && <span class="tag info">{one.transfer_status === "public" ? "offered to all" : "in transfer"}</span>}
    </>
  );
}

export function Summary({ of: one }: { of: Commitment }) {
  return (
    <p class="summary">
      <strong>{contentOf(one)}</strong> in {zoneName(one.availability_zone)}
      <span class="muted">
        {one.duration}, until {formatDate(one.expires_at)} ({relative(one.expires_at)})
      </span>
    </p>
  );
}
