// Who and what changed the quotas of a domain or project; for one resource also as a chart, and with an explanation.
import { useRoute } from "preact-iso";
import { get } from "../api/client";
import { keyOf, loadReport } from "../api/report";
import type { ExplanationsAnswer, QuotaChange as Change } from "../api/schema";
import { Content, Failure, Skeleton } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { Explanation } from "../history/Explanation";
import { QuotaChart } from "../history/QuotaChart";
import { newOf, oldOf, SUBJECTS, useChanges, whoOf, whyOf } from "../history/changes";
import { useChoice } from "../lib/address";
import { isoTime } from "../lib/csv";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import { apiPath, type Place } from "../lib/paths";
import { formatTime } from "../lib/time";
import { resourceTitle } from "../session/resources";

export default function History() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  const [chosen, choose] = useChoice("resource", "");
  const report = useLoad((signal) => loadReport(at, signal), [at]);
  const resources = (report.data?.services ?? []).flatMap((one) => one.resources).filter((one) => one.limit !== undefined);
  const options = resources.map((one) => ({ value: keyOf(one), title: one.title, group: one.service }));
  const [service, resource] = chosen ? chosen.split("/") : [];
  const changes = useChanges(at, service, resource);
  return (
    <Page title="History" kind={nameOf(project ?? domain ?? "")} crumbs={crumbsTo(at, true)}>
      <div class="tools">
        <Select label="Resource" value={chosen} options={[{ value: "", title: "All resources" }, ...options]} choose={choose} />
      </div>
      {changes.error && <Failure error={changes.error} retry={() => location.reload()} />}
      {service && resource && changes.list && <One {...{ at, service, resource }} changes={changes.list} />}
      {!changes.list && !changes.error && <Skeleton />}
      {changes.list && (
        <DataTable
          caption="Changes of quota"
          columns={chosen ? COLUMNS : [RESOURCE, ...COLUMNS]}
          rows={changes.list}
          rowKey={(one) => String(one.number)}
          order={{ key: "at", isDescending: true }}
          isWrapped
          empty={<p class="empty">No changes are known.</p>}
        />
      )}
      {changes.hasMore && <button onClick={changes.loadMore}>Show older changes</button>}
    </Page>
  );
}

interface OneProps {
  at: Place;
  service: string;
  resource: string;
  changes: Change[];
}

function One({ at, service, resource, changes }: OneProps) {
  const explained = useLoad(
    (signal) => get<ExplanationsAnswer>(apiPath(at, "/explain"), { query: { service, resource }, signal }),
    [at, service, resource],
  );
  return (
    <Content of={explained}>
      {({ explanations: [data] }) =>
        data && (
          <>
            <Explanation data={data} />
            <QuotaChart changes={changes} explanation={data} />
          </>
        )
      }
    </Content>
  );
}

const resourceOf = ({ service, resource }: Change): string => (service && resource ? resourceTitle(service, resource) : "whole project");

const RESOURCE: Column<Change> = {
  key: "resource",
  title: "Resource",
  render: resourceOf,
  sortBy: resourceOf,
  csv: [
    { title: "Service", value: (one) => one.service },
    { title: "Resource", value: (one) => one.resource },
  ],
};

const plain = (value: Change["new"]): string | number | undefined => (typeof value === "boolean" ? (value ? "on" : "off") : (value ?? undefined));

const COLUMNS: Column<Change>[] = [
  { key: "at", title: "When", render: (one) => formatTime(one.at), sortBy: (one) => one.number, isHeader: true, csv: [{ title: "When", value: (one) => isoTime(one.at) }] },
  { key: "what", title: "What", render: (one) => SUBJECTS[one.what], sortBy: (one) => one.what },
  { key: "old", title: "From", class: "number", render: oldOf, csv: [{ title: "From", value: (one) => plain(one.old) }] },
  {
    key: "new",
    title: "To",
    class: "number",
    render: newOf,
    csv: [
      { title: "To", value: (one) => plain(one.new) },
      { title: "Unit", value: (one) => one.unit },
    ],
  },
  { key: "who", title: "Who", render: whoOf, sortBy: whoOf },
  { key: "why", title: "Why", class: "text", render: (one) => <span title={one.request_id}>{whyOf(one)}</span>, sortBy: whyOf },
];
