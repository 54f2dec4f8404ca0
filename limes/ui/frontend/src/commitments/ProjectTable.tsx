// Which projects have committed to how much of one resource. From here one goes to a project's own commitments.
import { type Figures, keyOf, PER_AZ } from "../api/report";
import type { PlacedProject } from "../api/schema";
import { Content, Failure } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { Field } from "../components/Field";
import { Select } from "../components/Select";
import { useAddress } from "../lib/address";
import { inUnit } from "../lib/csv";
import { useList } from "../lib/list";
import { remember } from "../lib/names";
import { apiPath, pagePath, type Place } from "../lib/paths";
import { format } from "../lib/units";
import { count, DOMAIN_COLUMN, matching, nameColumn, projectRow, type Row } from "../pages/tables";
import { type ResourceInfo, useResources } from "../session/resources";

export function ProjectTable({ at }: { at: Place }) {
  const resources = useResources();
  return (
    <Content of={resources}>
      {(all) => {
        const [first, ...others] = all.filter((one) => one.commitments);
        return first ? <Table at={at} offers={[first, ...others]} /> : <p class="lead">The cloud offers no commitments.</p>;
      }}
    </Content>
  );
}

function Table({ at, offers }: { at: Place; offers: [ResourceInfo, ...ResourceInfo[]] }) {
  const { domain } = at;
  const [choices, change] = useAddress();
  const { search = "", all } = choices;
  const offer = offers.find((one) => keyOf(one) === choices.resource) ?? offers[0];
  const found = useList<PlacedProject, Row>({
    path: domain ? apiPath(at, "/projects") : "/v1/projects",
    list: "projects",
    query: { service: offer.service, resource: offer.name, fields: ["unit", "display_name", "per_az"] },
    headers: PER_AZ,
    arrived: remember,
    rowOf: (one) => projectRow(one, domain),
  });
  // who searches for a project may want its first commitment
  const rows = search || all ? matching(found.rows, search) : found.rows.filter(hasSome);
  if (found.error) return <Failure error={found.error} retry={found.reload} />;
  return (
    <>
      <div class="tools">
        <Select
          label="Resource"
          value={keyOf(offer)}
          options={offers.map((one) => ({ value: keyOf(one), title: one.title, group: one.service }))}
          choose={(resource) => change({ resource })}
        />
        <Field label="Search projects" name="search" type="search" value={search} onInput={(text) => change({ search: text })} />
        <label class="check">
          <input type="checkbox" checked={all !== undefined} onChange={(event) => change({ all: event.currentTarget.checked ? "1" : undefined })} />
          Also projects without commitments
        </label>
        <p class="muted" role="status">
          {found.isComplete ? count(rows.length, found.rows.length) : `Loading… ${found.rows.length} so far`}
        </p>
      </div>
      <DataTable
        caption={`Projects with commitments of ${offer.title}`}
        columns={columns(domain === undefined)}
        rows={rows}
        rowKey={(row) => row.id}
        order={{ key: "committed", isDescending: true }}
        isComplete={found.isComplete}
        empty={found.isComplete && <p class="empty">{search ? "No project matches this name." : `No project has committed to ${offer.title}.`}</p>}
      />
    </>
  );
}

const hasSome = ({ figures }: Row): boolean => figures !== undefined && figures.committed + figures.pending + figures.planned > 0;

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
    csv: [{ title: inUnit(title, ({ figures }) => figures?.unit), value: ({ figures }) => value(figures) }],
  };
}
