// The columns of the table of commitments.
import type { Commitment } from "../api/schema";
import type { Column } from "../components/DataTable";
import { zoneName } from "../lib/names";
import { formatDate, formatTime } from "../lib/time";
import { format } from "../lib/units";
import { StatusTag } from "./Summary";
import { resourceOf } from "./rules";

interface Selection {
  chosen: ReadonlySet<number>;
  toggle: (id: number) => void;
}

type Row = Commitment;

const DAY = 86400;

/** A date, or what is near, with its time. */
function date(at: number | undefined) {
  if (at === undefined) return <span class="muted">–</span>;
  const isNear = Math.abs(at - Date.now() / 1000) < DAY;
  return <span title={formatTime(at)}>{isNear ? formatTime(at) : formatDate(at)}</span>;
}

export function columns(open: (id: number) => void, selection: Selection | undefined): Column<Row>[] {
  return [
    ...(selection ? [selectColumn(selection)] : []),
    {
      key: "id",
      title: "Number",
      isHeader: true,
      sortBy: (one) => one.id,
      render: (one) => (
        <button class="link" aria-label={`Commitment ${one.id}`} title={one.uuid} onClick={() => open(one.id)}>
          {one.id}
        </button>
      ),
    },
    { key: "amount", title: "Amount", class: "number", sortBy: (one) => one.amount, render: (one) => format(one.amount, one.unit) },
    { key: "resource", title: "Resource", sortBy: resourceOf, render: resourceOf },
    { key: "zone", title: "Zone", sortBy: (one) => one.availability_zone, render: (one) => zoneName(one.availability_zone) },
    { key: "status", title: "State", sortBy: (one) => one.status, render: (one) => <StatusTag of={one} /> },
    { key: "duration", title: "Duration", sortBy: (one) => one.duration, render: (one) => one.duration },
    { key: "ends", title: "Ends", sortBy: (one) => one.expires_at, render: (one) => date(one.expires_at) },
    { key: "confirm", title: "Confirm by", sortBy: (one) => one.confirm_by ?? 0, render: (one) => date(one.confirm_by) },
    { key: "creator", title: "Created by", sortBy: (one) => one.creator_name ?? "", render: (one) => one.creator_name },
  ];
}

function selectColumn({ chosen, toggle }: Selection): Column<Row> {
  return {
    key: "select",
    title: "Select for a merge",
    isTitleHidden: true,
    render: (one) =>
      one.status === "confirmed" && (
        <input type="checkbox" aria-label={`Choose commitment ${one.id}`} checked={chosen.has(one.id)} onChange={() => toggle(one.id)} />
      ),
  };
}
