// All domains.
import type { Domain } from "../api/schema";
import { Page } from "../components/Page";
import { pagePath } from "../lib/paths";
import { FiguresTable } from "./FiguresTable";
import { figureColumns, nameColumn, rowAt } from "./tables";

const COLUMNS = [nameColumn("Domain", (row) => pagePath(row.place)), ...figureColumns("Given to projects")];

export default function Domains() {
  return (
    <Page title="Domains">
      <FiguresTable<Domain>
        of={{}}
        path="/v1/domains"
        list="domains"
        caption="Domains"
        columns={COLUMNS}
        rowOf={(one) => rowAt(one, { domain: one.id })}
      />
    </Page>
  );
}
