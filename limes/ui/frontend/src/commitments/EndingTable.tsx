// The commitments of many projects that end soon.
import type { EndingCommitment } from "../api/schema";
import { type Column, DataTable } from "../components/DataTable";
import { isoTime } from "../lib/csv";
import { zoneName } from "../lib/names";
import { pagePath } from "../lib/paths";
import { formatDate, formatTime, relative } from "../lib/time";
import { resourceTitle } from "../session/resources";
import { format } from "../lib/units";

type Row = EndingCommitment;

interface Props {
  ending: Row[];
  days: string;
  isWithDomain: boolean;
}

export function EndingTable({ ending, days, isWithDomain }: Props) {
  return (
    <DataTable
      caption={`Commitments that end within ${days} days`}
      columns={isWithDomain ? COLUMNS : COLUMNS.filter((one) => one.key !== "domain")}
      rows={ending}
      rowKey={(one) => one.uuid}
      order={{ key: "ends", isDescending: false }}
      orderKey="ending"
      empty={<p class="empty">Nothing ends within {days} days that was not renewed.</p>}
    />
  );
}

const contentOf = (one: Row): string => `${format(one.amount, one.unit)} ${resourceTitle(one.service, one.resource)}`;
const placeOf = ({ project }: Row) => ({ domain: project.domain.id, project: project.id });

const COLUMNS: Column<Row>[] = [
  {
    key: "what",
    title: "Commitment",
    isHeader: true,
    sortBy: contentOf,
    render: (one) => (
      <a href={pagePath(placeOf(one), `/commitments?do=manage&id=${one.id}`)} aria-label={`${contentOf(one)} of ${one.project.name}`}>
        {contentOf(one)}
      </a>
    ),
    csv: [
      { title: "Service", value: (one) => one.service },
      { title: "Resource", value: (one) => one.resource },
      { title: "Amount", value: (one) => one.amount },
      { title: "Unit", value: (one) => one.unit },
      { title: "Number", value: (one) => one.id },
      { title: "UUID", value: (one) => one.uuid },
    ],
  },
  { key: "zone", title: "Zone", sortBy: (one) => one.availability_zone, render: (one) => zoneName(one.availability_zone) },
  {
    key: "ends",
    title: "Ends",
    sortBy: (one) => one.expires_at,
    render: (one) => (
      <span title={formatTime(one.expires_at)}>
        {formatDate(one.expires_at)} <span class="muted">{relative(one.expires_at)}</span>
      </span>
    ),
    csv: [{ title: "Ends", value: (one) => isoTime(one.expires_at) }],
  },
  { key: "duration", title: "Duration", sortBy: (one) => one.duration, render: (one) => one.duration },
  {
    key: "project",
    title: "Project",
    sortBy: (one) => one.project.name,
    render: (one) => <a href={pagePath(placeOf(one), "/commitments")}>{one.project.name}</a>,
    csv: [
      { title: "Project", value: (one) => one.project.name },
      { title: "Project ID", value: (one) => one.project.id },
    ],
  },
  {
    key: "domain",
    title: "Domain",
    sortBy: (one) => one.project.domain.name,
    render: ({ project }) => <a href={pagePath({ domain: project.domain.id }, "/commitments")}>{project.domain.name}</a>,
  },
];
