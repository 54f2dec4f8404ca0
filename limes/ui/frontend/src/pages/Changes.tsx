// Who or what changed quotas, commitments and requests: in the cloud, a domain or a project.
import { useRoute } from "preact-iso";
import { keyOf, loadReport } from "../api/report";
import type { LoggedChange } from "../api/schema";
import { Failure, Skeleton } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { Field } from "../components/Field";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { beforeAndAfter, KINDS, PERIODS, useLog } from "../history/log";
import { REASONS } from "../history/changes";
import { useAddress } from "../lib/address";
import { isoTime } from "../lib/csv";
import { useDebounced, useLoad } from "../lib/load";
import { readable } from "../lib/messages";
import { nameOf } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { formatTime } from "../lib/time";
import { counted } from "../lib/words";

export default function Changes() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  const [choices, change] = useAddress();
  const { period = "recent" as string, kind = "", resource: chosen = "", person = "" } = choices;
  const [service, resource] = chosen ? chosen.split("/") : [];
  const report = useLoad((signal) => loadReport(at, signal), [at]);
  const resources = (report.data?.services ?? []).flatMap((each) => each.resources.map((one) => ({ value: keyOf(one), title: one.title, group: one.service })));
  const log = useLog(at, { period, kind: kind || undefined, person: useDebounced(person.trim()) || undefined, service, resource });
  const kinds = Object.entries(KINDS).map(([value, title]) => ({ value, title: title.charAt(0).toUpperCase() + title.slice(1) }));
  const id = project ?? domain;
  return (
    <Page title="Changes" kind={id && nameOf(id)} crumbs={crumbsTo(at, true)} actions={<button onClick={log.reload}>Reload</button>}>
      <p class="lead">Who or what changed quotas, commitments and requests, and why. The newest change comes first.</p>
      <div class="tools">
        <Select label="When" value={period} options={PERIODS} choose={(value) => change({ period: value === "recent" ? undefined : value })} />
        <Select label="What" value={kind} options={[{ value: "", title: "All kinds" }, ...kinds]} choose={(value) => change({ kind: value })} />
        <Select label="Resource" value={chosen} options={[{ value: "", title: "All resources" }, ...resources]} choose={(value) => change({ resource: value })} />
        <Field label="Who (name or id)" name="person" type="search" value={person} onInput={(value) => change({ person: value })} />
        <p class="muted" role="status">
          {log.list && `${log.hasMore ? "the newest " : ""}${counted(log.list.length, "change")}`}
        </p>
      </div>
      {service && resource && domain && (
        <p>
          <a href={pagePath(at, `/history?resource=${encodeURIComponent(chosen)}`)}>Quota over time, and what explains it</a>
        </p>
      )}
      {log.error && <Failure error={log.error} retry={log.reload} />}
      {!log.list && !log.error && <Skeleton />}
      {log.list && (
        <DataTable
          caption="Changes"
          columns={columnsAt(at)}
          rows={log.list}
          rowKey={(one) => one.id}
          order={{ key: "at", isDescending: true }}
          isWrapped
          isComplete={!log.hasMore}
          empty={<p class="empty">Nothing was changed{period === "all" ? "" : " in this time"}, as far as the filters go.</p>}
        />
      )}
      {log.hasMore && (
        <p class="more-rows">
          <button disabled={log.isLoading} onClick={log.loadMore}>
            {log.isLoading ? "Loading…" : "Show older changes"}
          </button>
        </p>
      )}
    </Page>
  );
}

function whoOf({ initiator }: LoggedChange): string {
  if (!initiator) return "not recorded";
  return initiator.type === "job" ? `Limes (${initiator.name})` : initiator.name || (initiator.id ?? "an unknown user");
}

function whyOf({ cause, detail }: LoggedChange): string {
  const reason = cause === undefined ? "" : cause === "automatic" ? "by itself" : REASONS[cause];
  return [reason, detail && readable(detail)].filter(Boolean).join(": ");
}

/** Where there is more about what was changed. */
function pathOf({ domain, project, kind, service, resource, quota_request }: LoggedChange): string {
  const at = { domain: domain.id, project: project?.id };
  if (quota_request !== undefined) return pagePath(at, `/requests/${quota_request}`);
  if (kind === "commitment") return pagePath(at, "/commitments");
  return pagePath(at, service && resource ? `/history?resource=${encodeURIComponent(`${service}/${resource}`)}` : "");
}

const lines = (texts: string[]) => texts.map((one) => <div key={one}>{one}</div>);

function columnsAt(at: Place): Column<LoggedChange>[] {
  return [AT, CHANGE, ...(at.project ? [] : [PROJECT]), ...(at.domain ? [] : [DOMAIN]), BEFORE, AFTER, WHO, WHY];
}

const AT: Column<LoggedChange> = {
  key: "at",
  title: "When",
  isHeader: true,
  render: (one) => formatTime(one.at),
  sortBy: (one) => one.at,
  csv: [{ title: "When (UTC)", value: (one) => isoTime(one.at) }],
};

const CHANGE: Column<LoggedChange> = {
  key: "change",
  title: "Change",
  class: "text",
  render: (one) => <a href={pathOf(one)}>{one.sentence}</a>,
  csv: [
    { title: "Change", value: (one) => one.sentence },
    { title: "Kind", value: (one) => one.kind },
    { title: "Service", value: (one) => one.service },
    { title: "Resource", value: (one) => one.resource },
  ],
};

const PROJECT: Column<LoggedChange> = {
  key: "project",
  title: "Project",
  sortBy: ({ project }) => project?.name ?? "",
  render: ({ domain, project }) => project && <a href={pagePath({ domain: domain.id, project: project.id }, "/changes")}>{project.name || project.id}</a>,
};

const DOMAIN: Column<LoggedChange> = {
  key: "domain",
  title: "Domain",
  sortBy: ({ domain }) => domain.name,
  render: ({ domain }) => <a href={pagePath({ domain: domain.id }, "/changes")}>{domain.name || domain.id}</a>,
};

const BEFORE: Column<LoggedChange> = {
  key: "before",
  title: "Before",
  render: (one) => lines(beforeAndAfter(one)[0]),
  csv: [{ title: "Before", value: (one) => beforeAndAfter(one)[0].join("; ") }],
};

const AFTER: Column<LoggedChange> = {
  key: "after",
  title: "After",
  render: (one) => lines(beforeAndAfter(one)[1]),
  csv: [{ title: "After", value: (one) => beforeAndAfter(one)[1].join("; ") }],
};

const WHO: Column<LoggedChange> = {
  key: "who",
  title: "Who",
  sortBy: whoOf,
  render: (one) =>
    one.initiator?.id ? (
      <a href={`?${new URLSearchParams({ period: "all", person: one.initiator.id })}`} title="All changes by this user">
        {whoOf(one)}
      </a>
    ) : (
      whoOf(one)
    ),
};

const WHY: Column<LoggedChange> = {
  key: "why",
  title: "Why",
  class: "text",
  sortBy: whyOf,
  render: (one) => <span title={one.request_id}>{whyOf(one)}</span>,
};
