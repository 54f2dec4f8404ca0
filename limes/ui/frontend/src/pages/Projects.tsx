// The projects of a domain, or of all domains: thousands of them, sorted and searched.
import { useRoute } from "preact-iso";
import { useState } from "preact/hooks";
import { PER_AZ, figures as figuresOf } from "../api/report";
import type { PlacedProject } from "../api/schema";
import { crumbsTo } from "../components/crumbs";
import { Failure } from "../components/Content";
import { DataTable } from "../components/DataTable";
import { Field } from "../components/Field";
import { Page } from "../components/Page";
import { remember, useDomainName } from "../lib/names";
import { usePages } from "../lib/pages";
import { apiPath, pagePath, type Place } from "../lib/paths";
import { figureColumns, nameColumn, useQuotaDialog, useResource, type Row } from "./tables";

export default function Projects() {
  const { domain } = useRoute().params as Place;
  const at = { domain };
  const domainName = useDomainName(at);
  const { figures, picker, error } = useResource(at);
  const [wanted, setWanted] = useState("");
  const pages = usePages<PlacedProject>({
    path: figures && (domain ? apiPath(at, "/projects") : "/v1/projects"),
    list: "projects",
    query: { service: figures?.service, resource: figures?.name },
    headers: PER_AZ,
    arrived: (found) => remember(found),
  });
  const [actions, dialog] = useQuotaDialog(pages.reload);
  const rows = matching(pages.rows.map((one) => rowOf(one, domain)), wanted);
  const columns = [
    nameColumn("Project", (row) => pagePath(row.place)),
    ...(domain ? [] : [{ key: "domain", title: "Domain", render: domainLink, sortBy: (row: Row) => row.domainName ?? "" }]),
    ...figureColumns(),
    actions,
  ];
  const failure = error ?? pages.error;
  return (
    <Page title={domain ? `Projects of ${domainName}` : "Projects"} crumbs={crumbsTo(at, true)}>
      <div class="tools" hidden={failure !== undefined}>
        {picker}
        <Field label="Search" name="search" type="search" onInput={setWanted} />
        <p class="muted" role="status">
          {pages.isComplete ? count(rows.length, pages.rows.length) : `Loading… ${pages.rows.length} so far`}
        </p>
      </div>
      {failure ? (
        <Failure error={failure} retry={pages.reload} />
      ) : (
        <DataTable
          caption={domain ? `Projects of ${domainName}` : "Projects of all domains"}
          columns={columns}
          rows={rows}
          rowKey={(row) => row.id}
          order={{ key: "name", isDescending: false }}
          empty={pages.isComplete && <p class="empty">No project is called like that.</p>}
        />
      )}
      {dialog}
    </Page>
  );
}

export function rowOf(project: PlacedProject, domain: string | undefined): Row {
  const service = project.services[0];
  const resource = service?.resources[0];
  return {
    id: project.id,
    name: project.name,
    place: { domain: domain ?? project.domain.id, project: project.id },
    figures: service && resource && figuresOf(service.type, resource),
    domainName: domain ? undefined : project.domain.name,
  };
}

export function domainLink(row: Row) {
  return <a href={pagePath({ domain: row.place.domain })}>{row.domainName}</a>;
}

export function matching(rows: Row[], wanted: string): Row[] {
  const text = wanted.trim().toLowerCase();
  if (!text) return rows;
  return rows.filter((one) => [one.name, one.id, one.domainName ?? ""].some((part) => part.toLowerCase().includes(text)));
}

export function count(shown: number, all: number): string {
  return shown === all ? `${all.toLocaleString("en")} in all` : `${shown.toLocaleString("en")} of ${all.toLocaleString("en")}`;
}
