// The projects of a domain, or of all domains: thousands of them.
import { useRoute } from "preact-iso";
import type { PlacedProject } from "../api/schema";
import { crumbsTo, Page } from "../components/Page";
import { nameOf } from "../lib/names";
import { apiPath, pagePath, type Place } from "../lib/paths";
import { FiguresTable } from "./FiguresTable";
import { DOMAIN_COLUMN, figureColumns, nameColumn, projectRow } from "./tables";

const OF_A_DOMAIN = [nameColumn("Project", (row) => pagePath(row.place)), ...figureColumns()];
const OF_ALL = [nameColumn("Project", (row) => pagePath(row.place)), DOMAIN_COLUMN, ...figureColumns()];

export default function Projects() {
  const { domain } = useRoute().params as Place;
  const at = { domain };
  return (
    <Page title={domain ? `Projects of ${nameOf(domain)}` : "Projects"} crumbs={crumbsTo(at, true)}>
      <FiguresTable<PlacedProject>
        of={at}
        path={domain ? apiPath(at, "/projects") : "/v1/projects"}
        list="projects"
        caption={domain ? `Projects of ${nameOf(domain)}` : "Projects of all domains"}
        columns={domain ? OF_A_DOMAIN : OF_ALL}
        rowOf={(one) => projectRow(one, domain)}
        hasLabels={domain !== undefined}
      />
    </Page>
  );
}
