// All domains.
import { useState } from "preact/hooks";
import { PER_AZ, figures as figuresOf } from "../api/report";
import type { Domain } from "../api/schema";
import { Failure } from "../components/Content";
import { DataTable } from "../components/DataTable";
import { Field } from "../components/Field";
import { Page } from "../components/Page";
import { remember } from "../lib/names";
import { usePages } from "../lib/pages";
import { pagePath } from "../lib/paths";
import { count, matching } from "./Projects";
import { figureColumns, nameColumn, useQuotaDialog, useResource, type Row } from "./tables";

export default function Domains() {
  const { figures, picker, error } = useResource({});
  const [wanted, setWanted] = useState("");
  const pages = usePages<Domain>({
    path: figures && "/v1/domains",
    list: "domains",
    query: { service: figures?.service, resource: figures?.name },
    headers: PER_AZ,
    arrived: (found) => remember(found),
  });
  const [actions, dialog] = useQuotaDialog(pages.reload);
  const rows = matching(pages.rows.map(rowOf), wanted);
  const columns = [nameColumn("Domain", (row) => pagePath(row.place)), ...figureColumns("Given to projects"), actions];
  const failure = error ?? pages.error;
  return (
    <Page title="Domains">
      <div class="tools" hidden={failure !== undefined}>
        {picker}
        <Field label="Search" name="search" type="search" onInput={setWanted} />
        <p class="muted" role="status">
          {pages.isComplete ? count(rows.length, pages.rows.length) : "Loading…"}
        </p>
      </div>
      {failure ? (
        <Failure error={failure} retry={pages.reload} />
      ) : (
        <DataTable
          caption="Domains"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.id}
          order={{ key: "name", isDescending: false }}
          empty={pages.isComplete && <p class="empty">No domain is called like that.</p>}
        />
      )}
      {dialog}
    </Page>
  );
}

function rowOf(domain: Domain): Row {
  const service = domain.services[0];
  const resource = service?.resources[0];
  return {
    id: domain.id,
    name: domain.name,
    place: { domain: domain.id },
    figures: service && resource && figuresOf(service.type, resource),
  };
}
