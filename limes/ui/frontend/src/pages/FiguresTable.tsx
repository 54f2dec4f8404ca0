// A long list of domains or projects with the figures of one resource: chosen, searched, sorted, and set.
import { useMemo } from "preact/hooks";
import type { Domain, Project } from "../api/schema";
import { Content, Failure } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { Field } from "../components/Field";
import { readFilter } from "../labels/entries";
import { useChoice } from "../lib/address";
import { useDebounced } from "../lib/load";
import { useList } from "../lib/list";
import { remember } from "../lib/names";
import type { Place } from "../lib/paths";
import { type ResourceInfo, useResources } from "../session/resources";
import { useRights } from "../session/rights";
import { count, matching, type Row, useQuotaDialog, useResource } from "./tables";

/** What the columns and dialogs show, of all that the API knows. */
const FIELDS = ["unit", "display_name", "quota_distribution_model", "quota", "projects_quota", "committed", "max_quota"];

interface Props<Item> {
  /** What the rows are part of. */
  of: Place;
  path: string;
  list: "domains" | "projects";
  caption: string;
  columns: Column<Row>[];
  rowOf: (item: Item) => Row;
  /** Whether the list can be filtered by a label. */
  hasLabels?: boolean;
}

export function FiguresTable<Item extends Domain | Project>(props: Props<Item>) {
  const resources = useResources();
  return (
    <Content of={resources}>
      {([first, ...others]) => (first ? <Table {...props} all={[first, ...others]} /> : <p class="empty">There are no resources.</p>)}
    </Content>
  );
}

function Table<Item extends Domain | Project>({ of, path, list, caption, columns, rowOf, hasLabels = false, all }: Props<Item> & { all: [ResourceInfo, ...ResourceInfo[]] }) {
  const { resource, picker } = useResource(all);
  const [wanted, setWanted] = useChoice("search", "");
  const [typed, setTyped] = useChoice("label", "");
  const filter = readFilter(hasLabels ? typed : "");
  const label = useDebounced(filter.label);
  const found = useList<Item, Row>({
    path,
    list,
    query: { service: resource.service, resource: resource.name, label, fields: FIELDS },
    arrived: remember,
    rowOf,
  });
  const rights = useRights(of)?.[list === "domains" ? "domain" : "project"];
  const [actions, dialog] = useQuotaDialog(found.rows, rights, found.reload);
  const rows = useMemo(() => matching(found.rows, wanted), [found.rows, wanted]);
  if (found.error) return <Failure error={found.error} retry={found.reload} />;
  return (
    <>
      <div class="tools">
        {picker}
        <Field label="Search" name="search" type="search" value={wanted} onInput={setWanted} />
        {hasLabels && (
          <Field
            label="Label"
            name="label"
            type="search"
            value={typed}
            isInvalid={filter.problem !== undefined}
            hint={filter.problem}
            onInput={setTyped}
          />
        )}
        <p class="muted" role="status">
          {found.isComplete ? count(rows.length, found.rows.length) : `Loading… ${found.rows.length} so far`}
        </p>
      </div>
      <DataTable
        caption={caption}
        columns={(resource.grows ? rights?.limit_growth : rights?.set_quota) ? [...columns, actions] : columns}
        rows={rows}
        rowKey={(row) => row.id}
        order={{ key: "share", isDescending: true }}
        isComplete={found.isComplete}
        empty={found.isComplete && <p class="empty">{label ? "No project matches." : "Nothing matches this name."}</p>}
      />
      {dialog}
    </>
  );
}
