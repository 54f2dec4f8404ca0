// The columns of the table of commitments.
import type { Commitment } from "../api/schema";
import type { Column } from "../components/DataTable";
import { isoTime } from "../lib/csv";
import { zoneName } from "../lib/names";
import { formatDate, formatTime } from "../lib/time";
import { StatusTag } from "./Summary";
import { contentOf, startOf, titleOf, whatOf } from "./wording";

interface Selection {
  chosen: ReadonlySet<number>;
  toggle: (id: number) => void;
}

type Row = Commitment;

const DAY = 86400;

/** When it ends: a date, or what is near, with its time. */
function end(at: number) {
  const isNear = Math.abs(at - Date.now() / 1000) < DAY;
  return <span title={formatTime(at)}>{isNear ? formatTime(at) : formatDate(at)}</span>;
}

/** For those who do not see which row they are in. There may be several of the same content. */
const nameOf = (one: Commitment): string => `${whatOf(one)} (number ${one.id})`;

export function columns(open: (id: number) => void, selection: Selection | undefined): Column<Row>[] {
  return [
    ...(selection ? [selectColumn(selection)] : []),
    {
      key: "what",
      title: "Commitment",
      isHeader: true,
      sortBy: contentOf,
      render: (one) => (
        <button class="link" aria-label={nameOf(one)} title={one.uuid} onClick={() => open(one.id)}>
          {contentOf(one)}
        </button>
      ),
      csv: [
        { title: "Resource", value: titleOf },
        { title: "Service", value: (one) => one.service_type },
        { title: "Resource name", value: (one) => one.resource_name },
        { title: "Amount", value: (one) => one.amount },
        { title: "Unit", value: (one) => one.unit ?? "" },
      ],
    },
    { key: "zone", title: "Zone", sortBy: (one) => one.availability_zone, render: (one) => zoneName(one.availability_zone) },
    { key: "status", title: "State", sortBy: (one) => one.status, render: (one) => <StatusTag of={one} /> },
    { key: "duration", title: "Duration", sortBy: (one) => one.duration, render: (one) => one.duration },
    {
      key: "starts",
      title: "Starts",
      sortBy: startOf,
      render: (one) => <span title={formatTime(startOf(one))}>{formatDate(startOf(one))}</span>,
      csv: [{ title: "Starts", value: (one) => isoTime(startOf(one)) }],
    },
    {
      key: "ends",
      title: "Ends",
      sortBy: (one) => one.expires_at,
      render: (one) => (
        <>
          {end(one.expires_at)}
          {one.auto_renew && <span class="hint"> renewed</span>}
        </>
      ),
      csv: [{ title: "Ends", value: (one) => isoTime(one.expires_at) }],
    },
    { key: "creator", title: "Created by", sortBy: (one) => one.creator_name ?? "", render: (one) => one.creator_name },
    {
      key: "id",
      title: "Number",
      class: "number",
      sortBy: (one) => one.id,
      render: (one) => one.id,
      csv: [
        { title: "Number", value: (one) => one.id },
        { title: "UUID", value: (one) => one.uuid },
      ],
    },
  ];
}

function selectColumn({ chosen, toggle }: Selection): Column<Row> {
  return {
    key: "select",
    title: "Select for a merge",
    isTitleHidden: true,
    render: (one) =>
      one.status === "confirmed" && (
        <input type="checkbox" aria-label={`Choose ${nameOf(one)}`} checked={chosen.has(one.id)} onChange={() => toggle(one.id)} />
      ),
  };
}
