// Quotas that contradict themselves, usage, or the backends: three lists, each with its own address.
import { loadInconsistencies } from "../api/findings";
import { Content } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { Field } from "../components/Field";
import { Nothing } from "../components/Nothing";
import { Page } from "../components/Page";
import { Select } from "../components/Select";
import { distance, filtered, type Finding, findingsOf, type Kind, KINDS } from "../findings/lists";
import { useAddress } from "../lib/address";
import { useLoad } from "../lib/load";
import { pagePath } from "../lib/paths";
import { growsByItself } from "../session/resources";
import { useRights } from "../session/rights";
import { format } from "../lib/units";
import { useScrapeStatus } from "../overview/status";

const NAMES = Object.keys(KINDS) as Kind[];

export default function Inconsistencies() {
  const loaded = useLoad(async (signal) => findingsOf(await loadInconsistencies(signal)), []);
  return (
    <Page title="Inconsistencies" actions={<button onClick={loaded.reload}>Reload</button>}>
      <Content of={loaded}>{(lists) => <Lists lists={lists} />}</Content>
    </Page>
  );
}

function Lists({ lists }: { lists: Record<Kind, Finding[]> }) {
  const [choices, change] = useAddress();
  const rights = useRights({});
  const checkedAt = useScrapeStatus(rights?.cloud.show_errors ? {} : undefined)?.checked_at;
  const { resource = "", search = "" } = choices;
  const first = NAMES.find((one) => lists[one].length > 0) ?? "overcommitted";
  const kind = NAMES.find((one) => one === choices.list) ?? first;
  const { text, title, found, none } = KINDS[kind];
  const rows = filtered(lists[kind], resource, search);
  if (NAMES.every((one) => lists[one].length === 0)) return <Nothing text="No inconsistencies." checkedAt={checkedAt} />;
  const resources = [...new Set(NAMES.flatMap((one) => lists[one].map((finding) => finding.resource)))].sort();
  return (
    <>
      <nav class="tabs" aria-label="Kinds of inconsistencies">
        {NAMES.map((one) => (
          <a key={one} href={`/ui/inconsistencies?list=${one}`} {...(one === kind ? { "aria-current": "page" as const } : {})}>
            {KINDS[one].title} <span class={`count ${lists[one].length > 0 ? "some" : ""}`}>{lists[one].length.toLocaleString("en")}</span>
          </a>
        ))}
      </nav>
      <p class="lead">{text}</p>
      <div class="tools">
        <Select
          label="Resource"
          value={resource}
          options={[{ value: "", title: "All resources" }, ...resources.map((value) => ({ value, title: value }))]}
          choose={(value) => change({ resource: value })}
        />
        <Field label="Search" name="search" type="search" value={search} onInput={(value) => change({ search: value })} />
        <p class="muted" role="status">
          {rows.length.toLocaleString("en")} of {lists[kind].length.toLocaleString("en")}
        </p>
      </div>
      <DataTable
        key={kind}
        caption={title}
        columns={columns(kind, found, rights?.[kind === "overcommitted" ? "domain" : "project"].set_quota ?? false)}
        rows={rows}
        rowKey={(one) => one.key}
        order={{ key: "distance", isDescending: true }}
        empty={lists[kind].length === 0 ? <Nothing text={none} checkedAt={checkedAt} /> : <p class="empty">Nothing matches.</p>}
      />
    </>
  );
}

function columns(kind: Kind, foundTitle: string, maySetQuota: boolean): Column<Finding>[] {
  const name: Column<Finding> = {
    key: "name",
    title: kind === "overcommitted" ? "Domain" : "Project",
    isHeader: true,
    sortBy: (one) => one.name,
    render: (one) => <a href={pagePath(one.place)}>{one.name}</a>,
  };
  const domain: Column<Finding> = {
    key: "domain",
    title: "Domain",
    sortBy: (one) => one.domain.name,
    render: (one) => <a href={pagePath({ domain: one.domain.id })}>{one.domain.name}</a>,
  };
  return [
    name,
    ...(kind === "overcommitted" ? [] : [domain]),
    {
      key: "resource",
      title: "Resource",
      sortBy: (one) => one.resource,
      render: (one) => one.resource,
      csv: [
        { title: "Resource", value: (one) => one.resource },
        { title: "Unit", value: (one) => one.unit },
      ],
    },
    { key: "quota", title: "Quota", class: "number", sortBy: (one) => one.quota, render: (one) => format(one.quota, one.unit) },
    { key: "found", title: foundTitle, class: "number", sortBy: (one) => one.found, render: (one) => format(one.found, one.unit) },
    { key: "distance", title: "Difference", class: "number", sortBy: distance, render: difference, csv: [{ title: "Difference", value: (one) => (one.found < 0 ? undefined : one.found - one.quota) }] },
    ...(maySetQuota ? [SET_QUOTA] : []),
  ];
}

const SET_QUOTA: Column<Finding> = {
  key: "actions",
  title: "Actions",
  isTitleHidden: true,
  class: "act",
  render: (one) =>
    !growsByItself(one.resource) && (
      <a class="button small" aria-label={`Set quota of ${one.name}`} href={pagePath(one.place, "/quota")}>
        Set quota
      </a>
    ),
};

function difference(one: Finding): string {
  if (one.found < 0) return "unlimited";
  return `${one.found < one.quota ? "−" : "+"}${format(Math.abs(one.found - one.quota), one.unit)}`;
}
