import type { Commitment } from "../api/schema";

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
