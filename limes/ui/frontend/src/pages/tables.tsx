// What the tables of domains and of projects have in common: one resource is looked at, and its figures are the columns.
import { type Figures, figures as figuresOf, keyOf } from "../api/report";
import type { Rights } from "../api/rights";
import type { Domain, PlacedProject, Project } from "../api/schema";
import type { Column } from "../components/DataTable";
import { Dialog } from "../components/Dialog";
import { Meter } from "../components/Meter";
import { Select } from "../components/Select";
import { useAddress, useChoice } from "../lib/address";
import { inUnit } from "../lib/csv";
import { lazily } from "../lib/lazily";
import { pagePath, type Place } from "../lib/paths";
import { format, percent } from "../lib/units";
import type { ResourceInfo } from "../session/resources";

const GrowthDialog = lazily(async () => ({ default: (await import("../growth/GrowthDialog")).GrowthDialog }), "h2");
const QuotaForm = lazily(async () => ({ default: (await import("../quota/QuotaForm")).QuotaForm }), "h2");

/** What may be done with the quota of all rows. */
type QuotaRights = Pick<Rights["project"], "set_quota" | "limit_growth">;

export interface Row {
  id: string;
  name: string;
  place: Place;
  figures: Figures | undefined;
  /** The name of its domain, in the list of all projects. */
  domainName?: string;
}

/** Which resource is looked at; the address remembers it. */
export function useResource(all: readonly [ResourceInfo, ...ResourceInfo[]]): { resource: ResourceInfo; picker: preact.JSX.Element } {
  const [key, choose] = useChoice("resource", "");
  const resource = all.find((one) => keyOf(one) === key) ?? all.find((one) => one.hasQuota) ?? all[0];
  const options = all.map((one) => ({ value: keyOf(one), title: one.title, group: one.service }));
  const picker = <Select label="Resource" value={keyOf(resource)} options={options} choose={choose} />;
  return { resource, picker };
}

/** A row of a domain or project, of whose report only one resource was asked for. */
export function rowAt(one: Domain | Project, place: Place, domainName?: string): Row {
  const service = one.services[0];
  const resource = service?.resources[0];
  return { id: one.id, name: one.name, place, figures: service && resource && figuresOf(service.type, resource), domainName };
}

/** A row of a project; in the list of all projects it says itself in which domain it is. */
export function projectRow(one: PlacedProject, domain: string | undefined): Row {
  return domain
    ? rowAt(one, { domain, project: one.id })
    : rowAt(one, { domain: one.domain.id, project: one.id }, one.domain.name);
}

export function matching(rows: Row[], wanted: string): Row[] {
  const text = wanted.trim().toLowerCase();
  if (!text) return rows;
  return rows.filter((one) => [one.name, one.id, one.domainName ?? ""].some((part) => part.toLowerCase().includes(text)));
}

export function count(shown: number, all: number): string {
  return shown === all ? `${all.toLocaleString("en")} in all` : `${shown.toLocaleString("en")} of ${all.toLocaleString("en")}`;
}

export const DOMAIN_COLUMN: Column<Row> = {
  key: "domain",
  title: "Domain",
  render: (row) => <a href={pagePath({ domain: row.place.domain })}>{row.domainName}</a>,
  sortBy: (row) => row.domainName ?? "",
  csv: [
    { title: "Domain", value: (row) => row.domainName },
    { title: "Domain ID", value: (row) => row.place.domain },
  ],
};

export function nameColumn(title: string, href: (row: Row) => string): Column<Row> {
  const render = (row: Row) => (
    <a href={href(row)} title={row.id}>
      {row.name}
    </a>
  );
  const csv = [
    { title, value: (row: Row) => row.name },
    { title: `${title} ID`, value: (row: Row) => row.id },
  ];
  return { key: "name", title, render, sortBy: (row) => row.name, isHeader: true, csv };
}

function amount(key: "limit" | "usage" | "committed" | "distributed", title: string): Column<Row> {
  return {
    key,
    title,
    class: "number",
    render: ({ figures }) => {
      const value = figures?.[key];
      return value === undefined ? <span class="muted">–</span> : format(value, figures!.unit);
    },
    sortBy: (row) => row.figures?.[key] ?? -1,
    csv: [{ title: inUnit(title, (row) => row.figures?.unit), value: (row) => row.figures?.[key] }],
  };
}

/** Figures of the resource. `childrenTitle` is for what was given to the level below. */
export function figureColumns(childrenTitle?: string): Column<Row>[] {
  return [
    amount("limit", "Quota"),
    ...(childrenTitle ? [amount("distributed", childrenTitle)] : []),
    amount("usage", "Used"),
    amount("committed", "Committed"),
    {
      key: "share",
      title: "Use of quota",
      class: "wide",
      render: ({ figures }) => figures && <Share figures={figures} />,
      sortBy: ({ figures }) => (figures?.limit ? figures.usage / figures.limit : (figures?.usage ?? 0) > 0 ? 1e9 : 0),
      csv: [{ title: "Use of quota (%)", value: ({ figures }) => (figures?.limit ? Math.round((1000 * figures.usage) / figures.limit) / 10 : undefined) }],
    },
  ];
}

function Share({ figures }: { figures: Figures }) {
  const { usage, limit, committed, distributed, unit } = figures;
  return (
    <div class="share">
      <Meter {...{ usage, limit, committed, distributed, unit, limitName: "quota" }} />
      <span>{limit === undefined ? "" : percent(usage, limit)}</span>
    </div>
  );
}

const QUOTA = { name: "quota", title: "Set quota" } as const;
const GROWTH = { name: "limit-growth", title: "Limit growth" } as const;

/** A last column that opens the form for one quota, or for how far it grows; the address says for which of the rows. */
export function useQuotaDialog(rows: Row[], rights: QuotaRights | undefined, changed: () => void): [Column<Row>, preact.JSX.Element | null] {
  const [choices, change] = useAddress();
  const row = rows.find((one) => one.id === choices.id);
  const column: Column<Row> = {
    key: "actions",
    title: "Actions",
    isTitleHidden: true,
    class: "act",
    render: (one) => {
      const kind = one.figures?.grows ? GROWTH : QUOTA;
      const may = one.figures?.grows ? rights?.limit_growth : rights?.set_quota;
      return (
        may &&
        one.figures?.limit !== undefined && (
          <button class="small" aria-label={`${kind.title} of ${one.name}`} onClick={() => change({ do: kind.name, id: one.id }, true)}>
            {kind.title}
          </button>
        )
      );
    },
  };
  const close = (): void => change({ do: undefined, id: undefined });
  if (row?.figures?.grows && choices.do === GROWTH.name) {
    return [column, <GrowthDialog kind={GROWTH.name} place={row.place} name={row.name} figures={row.figures} close={close} changed={changed} />];
  }
  const dialog = row?.figures && choices.do === QUOTA.name ? (
    <Dialog title={`Quota of ${row.name}`} close={close}>
      <QuotaForm
        place={row.place}
        only={{ service: row.figures.service, name: row.figures.name }}
        saved={() => {
          close();
          changed();
        }}
      />
    </Dialog>
  ) : null;
  return [column, dialog];
}
