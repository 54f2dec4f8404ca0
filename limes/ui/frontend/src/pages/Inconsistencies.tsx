// Quotas that contradict themselves, usage, or the backends.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { get } from "../api/client";
import type { Inconsistencies as Found, InconsistenciesAnswer, PlacedNamed } from "../api/schema";
import { Content } from "../components/Content";
import { DataTable, type Column } from "../components/DataTable";
import { Field } from "../components/Field";
import { Page } from "../components/Page";
import { useLoad } from "../lib/load";
import { pagePath } from "../lib/paths";
import { format } from "../lib/units";

interface Row {
  key: string;
  service: string;
  resource: string;
  unit?: string;
  domain: { id: string; name: string };
  project?: PlacedNamed;
  has: number;
  should: number;
}

interface Kind {
  title: string;
  about: string;
  has: string;
  should: string;
  rows: (found: Found) => Row[];
}

const ofProject = (one: { service: string; resource: string; unit?: string; project: PlacedNamed }) => ({
  ...one,
  key: `${one.project.id}/${one.service}/${one.resource}`,
  domain: one.project.domain,
});

const KINDS: Kind[] = [
  {
    title: "More given to projects than the domain has",
    about: "The projects of these domains have more quota together than the domain itself. Raise the domain's quota, or lower the projects'.",
    has: "Projects' quota",
    should: "Domain quota",
    rows: (found) =>
      found.domain_quota_overcommitted.map((one) => ({
        ...one,
        key: `${one.domain.id}/${one.service}/${one.resource}`,
        has: one.projects_quota,
        should: one.domain_quota,
      })),
  },
  {
    title: "More used than the quota allows",
    about: "Often after a quota was set in a backend that counts later than it allows.",
    has: "Used",
    should: "Quota",
    rows: (found) => found.project_quota_overspent.map((one) => ({ ...ofProject(one), has: one.usage, should: one.quota })),
  },
  {
    title: "Another quota in the backend",
    about: "The collector puts these right with its next look, unless it only reports (collector.authoritative).",
    has: "In the backend",
    should: "Quota",
    rows: (found) => found.project_quota_mismatch.map((one) => ({ ...ofProject(one), has: one.backend_quota, should: one.quota })),
  },
];

export default function Inconsistencies() {
  const found = useLoad((signal) => get<InconsistenciesAnswer>("/v1/inconsistencies", { signal }), []);
  const [wanted, setWanted] = useState("");
  return (
    <Page title="Inconsistencies" actions={<button onClick={found.reload}>Look again</button>}>
      <Content of={found}>
        {({ inconsistencies }) => (
          <>
            <div class="tools">
              <Field label="Search" name="search" type="search" onInput={setWanted} />
            </div>
            {KINDS.map((kind) => (
              <Section key={kind.title} kind={kind} rows={kind.rows(inconsistencies)} wanted={wanted.trim().toLowerCase()} />
            ))}
          </>
        )}
      </Content>
    </Page>
  );
}

function Section({ kind, rows, wanted }: { kind: Kind; rows: Row[]; wanted: string }) {
  const shown = rows.filter((one) => words(one).some((word) => word.toLowerCase().includes(wanted)));
  return (
    <section class="finding" aria-label={kind.title}>
      <h2>
        {kind.title} <span class={rows.length > 0 ? "tag warning" : "tag"}>{rows.length}</span>
      </h2>
      {rows.length === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <>
          <p class="lead">{kind.about}</p>
          <DataTable
            caption={kind.title}
            columns={columnsOf(kind)}
            rows={shown}
            rowKey={(one) => one.key}
            order={{ key: "difference", isDescending: true }}
            empty={<p class="muted">Nothing here is called like that.</p>}
          />
        </>
      )}
    </section>
  );
}

const words = (one: Row): string[] => [one.domain.name, one.project?.name ?? "", `${one.service}/${one.resource}`];

function columnsOf(kind: Kind): Column<Row>[] {
  const amount = (key: "has" | "should", title: string): Column<Row> => ({
    key,
    title,
    class: "number",
    render: (row) => format(row[key], row.unit),
    sortBy: (row) => row[key],
  });
  return [
    { key: "place", title: "Where", isHeader: true, render: (row) => <Where row={row} />, sortBy: (row) => words(row).join(" ") },
    { key: "resource", title: "Resource", render: (row) => `${row.service}/${row.resource}`, sortBy: (row) => `${row.service}/${row.resource}` },
    amount("has", kind.has),
    amount("should", kind.should),
    {
      key: "difference",
      title: "Difference",
      class: "number",
      render: (row) => (row.has < 0 ? "unlimited" : difference(row)),
      sortBy: (row) => (row.has < 0 ? Infinity : Math.abs(row.has - row.should)),
    },
  ];
}

function difference(row: Row): string {
  return `${row.has < row.should ? "−" : "+"}${format(Math.abs(row.has - row.should), row.unit)}`;
}

function Where({ row }: { row: Row }): ComponentChildren {
  const domain = row.domain.id;
  return (
    <>
      {row.project && <a href={pagePath({ domain, project: row.project.id }, "/quota")}>{row.project.name}</a>}
      {row.project && <span class="muted"> in </span>}
      <a href={row.project ? pagePath({ domain }) : pagePath({ domain }, "/quota")}>{row.domain.name}</a>
    </>
  );
}
