// A commitment in two lines.
import type { Commitment } from "../api/schema";
import { formatDate, relative } from "../lib/time";
import { format } from "../lib/units";
import { zoneName } from "../lib/zones";
import { resourceOf } from "./filter";

export function Summary({ of: one }: { of: Commitment }) {
  return (
    <p class="summary">
      <strong>
        {format(one.amount, one.unit)} {resourceOf(one)}
      </strong>{" "}
      in {zoneName(one.availability_zone)}
      <span class="muted">
        {one.duration}, until {formatDate(one.expires_at)} ({relative(one.expires_at)})
      </span>
    </p>
  );
}
