// What all projects of a place have committed to, by resource and zone: how much of it is used, and how much ends soon.
import type { ZoneSummary } from "../api/schema";
import { type Column, DataTable } from "../components/DataTable";
import { Meter } from "../components/Meter";
import { zoneName } from "../lib/names";
import { format, percent } from "../lib/units";
import { titleOf } from "./wording";

type Row = ZoneSummary;
type Key = "committed" | "used" | "unused" | "expiring" | "pending" | "planned";

interface Props {
  zones: Row[];
  /** Over how many days `expiring` looks ahead. */
  days: string;
  /** Looks at the projects of one resource. */
  choose: (resource: string) => void;
}

export function ZoneTable({ zones, days, choose }: Props) {
  return (
    <DataTable
      caption="Commitments by resource and zone"
      columns={columns(zones, days, choose)}
      rows={zones}
      rowKey={(one) => `${keyOf(one)}/${one.availability_zone}`}
      order={{ key: "resource", isDescending: false }}
      orderKey="zones"
      empty={<p class="empty">No project has committed to anything.</p>}
    />
  );
}

const keyOf = (one: Row): string => `${one.service_type}/${one.resource_name}`;

function columns(zones: Row[], days: string, choose: Props["choose"]): Column<Row>[] {
  const isSome = (key: Key): boolean => zones.some((one) => one[key] > 0);
  return [
    {
      key: "resource",
      title: "Resource",
      isHeader: true,
      sortBy: (one) => `${one.service_type} ${titleOf(one)} ${one.availability_zone}`,
      render: (one) => (
        <button class="link" aria-label={`Projects with ${titleOf(one)} in ${zoneName(one.availability_zone)}`} onClick={() => choose(keyOf(one))}>
          {titleOf(one)}
        </button>
      ),
      csv: [
        { title: "Service", value: (one) => one.service_type },
        { title: "Resource", value: (one) => one.resource_name },
        { title: "Unit", value: (one) => one.unit },
      ],
    },
    { key: "zone", title: "Zone", sortBy: (one) => one.availability_zone, render: (one) => zoneName(one.availability_zone) },
    amount("committed", "Committed"),
    share("used", "Used of it"),
    share("unused", "Unused"),
    {
      key: "bar",
      title: "Use of commitments",
      class: "wide",
      render: ({ used, committed, unit = "" }) => <Meter usage={used} limit={undefined} committed={committed} scale={committed} unit={unit} limitName="" />,
    },
    {
      key: "coverage",
      title: "Usage covered",
      class: "number",
      sortBy: (one) => one.coverage ?? 0,
      render: (one) => (one.usage > 0 ? percent(one.used, one.usage) : <span class="muted">–</span>),
      csv: [
        { title: "Usage", value: (one) => one.usage },
        { title: "Coverage", value: (one) => one.coverage },
      ],
    },
    amount("expiring", `Ends within ${days} days`),
    ...(isSome("pending") ? [amount("pending", "Waiting")] : []),
    ...(isSome("planned") ? [amount("planned", "Planned")] : []),
    { key: "projects", title: "Projects", class: "number", sortBy: (one) => one.projects, render: (one) => one.projects.toLocaleString("en") },
  ];
}

function amount(key: Key, title: string): Column<Row> {
  return {
    key,
    title,
    class: "number",
    sortBy: (one) => one[key],
    render: (one) => (one[key] > 0 ? format(one[key], one.unit) : <span class="muted">–</span>),
  };
}

/** An amount, with its part of what is committed. Sorted by that part: amounts of several units cannot be compared. */
function share(key: "used" | "unused", title: string): Column<Row> {
  return {
    key,
    title,
    class: "number",
    sortBy: (one) => (one.committed > 0 ? one[key] / one.committed : 0),
    render: (one) =>
      one[key] > 0 ? (
        <>
          {format(one[key], one.unit)} <span class="muted">{percent(one[key], one.committed)}</span>
        </>
      ) : (
        <span class="muted">–</span>
      ),
    csv: [{ title, value: (one) => one[key] }],
  };
}
