// Commitments of many projects: who has committed to how much of one resource. From here one goes to a project's own.
import { useRoute } from "preact-iso";
import { useState } from "preact/hooks";
import { type Figures, loadReport, PER_AZ } from "../api/report";
import type { PlacedProject } from "../api/schema";
import { offersOf } from "../commitments/offers";
import { Failure } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { Field } from "../components/Field";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { useAddress } from "../lib/address";
import { useLoad } from "../lib/load";
import { remember, useDomainName } from "../lib/names";
import { usePages } from "../lib/pages";
import { apiPath, pagePath, type Place } from "../lib/paths";
import { format } from "../lib/units";
import { count, DOMAIN_COLUMN, matching, nameColumn, projectRow, type Row } from "./tables";

export default function CommitmentProjects() {
  const { domain } = useRoute().params as Place;
  const at = { domain };
  const domainName = useDomainName(at);
  const [choices, change] = useAddress();
  const [wanted, setWanted] = useState("");
  const report = useLoad((signal) => loadReport(at, signal), [at]);
  const offers = report.data && offersOf(report.data);
  const offer = offers?.find((one) => one.key === choices.resource) ?? offers?.[0];
  const pages = usePages<PlacedProject, Row>({
    path: offer && (domain ? apiPath(at, "/projects") : "/v1/projects"),
    list: "projects",
    query: { service: offer?.service, resource: offer?.resource },
    headers: PER_AZ,
    arrived: remember,
    rowOf: (one) => projectRow(one, domain),
  });
  const rows = matching(pages.rows, wanted);
  const failure = report.error ?? pages.error;
  const title = domain ? `Commitments of ${domainName}` : "Commitments";
  return (
    <Page title={title} crumbs={crumbsTo(at, true)}>
      {offers && offers.length === 0 && <p class="lead">The cloud offers no commitments.</p>}
      <div class="tools">
        {offers && offer && (
          <Select
            label="Resource"
            value={offer.key}
            options={offers.map((one) => ({ value: one.key, title: one.title, group: one.service }))}
            choose={(resource) => change({ resource })}
          />
        )}
        <Field label="Search projects" name="search" type="search" onInput={setWanted} />
        <p class="muted" role="status">
          {pages.isComplete ? count(rows.length, pages.rows.length) : offer && `Loading… ${pages.rows.length} so far`}
        </p>
      </div>
      {failure ? (
        <Failure error={failure} retry={report.error ? report.reload : pages.reload} />
      ) : (
        <DataTable
          caption={title}
          columns={columns(domain === undefined)}
          rows={rows}
          rowKey={(row) => row.id}
          order={{ key: "committed", isDescending: true }}
          empty={pages.isComplete && <p class="empty">No project matches this name.</p>}
        />
      )}
    </Page>
  );
}

function columns(isWithDomain: boolean): Column<Row>[] {
  return [
    nameColumn("Project", (row) => pagePath(row.place, "/commitments")),
    amount("committed", "Committed"),
    amount("pending", "Waiting"),
    amount("planned", "Planned"),
    amount("usage", "Used"),
    ...(isWithDomain ? [DOMAIN_COLUMN] : []),
  ];
}

function amount(key: "committed" | "pending" | "planned" | "usage", title: string): Column<Row> {
  const value = (figures: Figures | undefined): number => figures?.[key] ?? 0;
  return {
    key,
    title,
    class: "number",
    render: ({ figures }) => (value(figures) > 0 ? format(value(figures), figures!.unit) : <span class="muted">–</span>),
    sortBy: ({ figures }) => value(figures),
  };
}
