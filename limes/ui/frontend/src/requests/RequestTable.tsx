// A list of requests, the newest first: what is wanted, by whom, and what has become of it.
import { placeOf, type QuotaRequest } from "../api/requests";
import { type Column, DataTable } from "../components/DataTable";
import { levelOf, pagePath, type Place } from "../lib/paths";
import { formatTime, relative } from "../lib/time";
import { requestPath, statusText, wantedText } from "./words";

/** In one line, as rows are as high as that. */
function shortly({ resources: [first, ...others] }: QuotaRequest): string {
  if (!first) return "";
  return others.length > 0 ? `${wantedText(first)}, and ${others.length} more` : wantedText(first);
}

const time = (key: string, title: string, of: (one: QuotaRequest) => number | undefined): Column<QuotaRequest> => ({
  key,
  title,
  render: (one) => {
    const at = of(one);
    return at === undefined ? <span class="muted">–</span> : <span title={formatTime(at)}>{relative(at)}</span>;
  },
  csv: [{ title: `${title} (UTC)`, value: (one) => (of(one) === undefined ? undefined : new Date(of(one)! * 1000).toISOString()) }],
});

const NUMBER: Column<QuotaRequest> = {
  key: "number",
  title: "Request",
  isHeader: true,
  render: (one) => <a href={requestPath(one)}>Request {one.id}</a>,
  csv: [{ title: "Request", value: (one) => one.id }],
};

const OF: Column<QuotaRequest> = {
  key: "of",
  title: "Of",
  render: ({ domain, project }) => (
    <>
      {project ? <a href={pagePath({ domain: domain.id, project: project.id })}>{project.name}</a> : "domain "}
      {project ? <small> in {domain.name}</small> : <a href={pagePath({ domain: domain.id })}>{domain.name}</a>}
    </>
  ),
  csv: [
    { title: "Domain", value: (one) => one.domain.name },
    { title: "Project", value: (one) => one.project?.name },
  ],
};

const OTHERS: Column<QuotaRequest>[] = [
  { key: "wanted", title: "Wanted", render: shortly, csv: [{ title: "Wanted", value: (one) => one.resources.map(wantedText).join("; ") }] },
  { key: "requester", title: "Asked by", render: (one) => one.requester.name ?? "", csv: [{ title: "Asked by", value: (one) => one.requester.name }] },
  time("created", "Asked", (one) => one.created_at),
  { key: "status", title: "Status", render: (one) => <Status of={one} />, csv: [{ title: "Status", value: (one) => one.status }] },
  time("decided", "Closed", (one) => one.decided_at),
];

export function Status({ of: { status, passed_on_to: above } }: { of: QuotaRequest }) {
  return (
    <span class="request-status" data-status={status}>
      {statusText(status)}
      {status === "open" && above !== undefined && <small> passed on as {above}</small>}
    </span>
  );
}

export function RequestTable({ at, rows, isComplete }: { at: Place; rows: QuotaRequest[]; isComplete: boolean }) {
  const columns = levelOf(at) === "project" ? [NUMBER, ...OTHERS] : [NUMBER, OF, ...OTHERS];
  return (
    <DataTable
      caption="Requests for more quota"
      columns={columns}
      rows={rows}
      rowKey={(one) => `${placeOf(one).domain} ${one.id}`}
      order={{ key: "number", isDescending: true }}
      isComplete={isComplete}
      empty={null}
    />
  );
}
