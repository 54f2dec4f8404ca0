// Resources of projects near or beyond their quota: of all domains, or of one.
import { useRoute } from "preact-iso";
import { loadFullest } from "../api/attention";
import type { FullestAnswer, FullResource } from "../api/schema";
import { Content } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { Field } from "../components/Field";
import { Meter } from "../components/Meter";
import { Nothing } from "../components/Nothing";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { StateMark } from "../components/StateMark";
import { useAddress } from "../lib/address";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { shareOf, stateOf, stateText } from "../lib/state";
import { format, percent } from "../lib/units";
import { counted, countedOf } from "../lib/words";
import { useScrapeStatus } from "../overview/status";
import { resourceTitle } from "../session/resources";

/** What the API gives at once. The fullest ones are what one looks for. */
const MOST = 1000;

const resourceOf = (one: FullResource): string => `${one.service}/${one.resource}`;
const titleOf = (one: FullResource): string => resourceTitle(one.service, one.resource);
const placeOf = ({ project }: FullResource): Place => ({ domain: project.domain.id, project: project.id });

export default function Fullest() {
  const { domain } = useRoute().params as Place;
  const at = { domain };
  const loaded = useLoad((signal) => loadFullest(at, MOST, signal), [at]);
  return (
    <Page
      title="Quotas nearly full"
      kind={domain && nameOf(domain)}
      crumbs={crumbsTo(at, true)}
      actions={<button onClick={loaded.reload}>Reload</button>}
    >
      <p class="lead">Resources where a project uses more than 80 % of its quota, the fullest first.</p>
      <Content of={loaded}>{(answer) => <List at={at} answer={answer} />}</Content>
    </Page>
  );
}

function List({ at, answer: { fullest: all, counts } }: { at: Place; answer: FullestAnswer }) {
  const status = useScrapeStatus(at);
  const [choices, change] = useAddress();
  const { resource = "", search = "" } = choices;
  const text = search.trim().toLowerCase();
  const rows = all.filter(
    (one) => (!resource || resourceOf(one) === resource) && [one.project.name, one.project.id, one.project.domain.name].some((part) => part.toLowerCase().includes(text)),
  );
  const options = [...new Map(all.map((one) => [resourceOf(one), { value: resourceOf(one), title: titleOf(one), group: one.service }])).values()];
  if (all.length === 0) return <Nothing text="No project uses more than 80 % of a quota." checkedAt={status?.checked_at} />;
  return (
    <>
      <div class="tools">
        <Select
          label="Resource"
          value={resource}
          options={[{ value: "", title: "All resources" }, ...options]}
          choose={(value) => change({ resource: value })}
        />
        <Field label="Search" name="search" type="search" value={search} onInput={(value) => change({ search: value })} />
        <p class="muted" role="status">
          {rows.length < all.length
            ? `${countedOf(rows.length, counts.above, "quota")} above 80 %`
            : `${counted(counts.above, "quota")} above 80 %, ${counts.above_95.toLocaleString("en")} of them above 95 %, ${counts.above_quota.toLocaleString("en")} exceeded`}
          {counts.above > all.length && `; these are the fullest ${all.length.toLocaleString("en")}`}
        </p>
      </div>
      <DataTable
        caption="Quotas nearly full"
        columns={at.domain ? [NAME, ...COLUMNS] : [NAME, DOMAIN, ...COLUMNS]}
        rows={rows}
        rowKey={(one) => `${one.project.id} ${resourceOf(one)}`}
        order={{ key: "share", isDescending: true }}
        empty={<p class="empty">Nothing matches.</p>}
      />
    </>
  );
}

const NAME: Column<FullResource> = {
  key: "name",
  title: "Project",
  isHeader: true,
  sortBy: (one) => one.project.name,
  render: (one) => <a href={pagePath(placeOf(one))}>{one.project.name}</a>,
};

const DOMAIN: Column<FullResource> = {
  key: "domain",
  title: "Domain",
  sortBy: (one) => one.project.domain.name,
  render: ({ project }) => <a href={pagePath({ domain: project.domain.id })}>{project.domain.name}</a>,
};

const COLUMNS: Column<FullResource>[] = [
  {
    key: "resource",
    title: "Resource",
    sortBy: titleOf,
    render: (one) => <span title={resourceOf(one)}>{titleOf(one)}</span>,
    csv: [
      { title: "Service", value: (one) => one.service },
      { title: "Resource", value: (one) => one.resource },
      { title: "Unit", value: (one) => one.unit },
    ],
  },
  {
    key: "share",
    title: "Use of quota",
    class: "wide",
    sortBy: (one) => shareOf(one.usage, one.quota),
    csv: [{ title: "Use of quota (%)", value: (one) => (one.quota > 0 ? Math.round((1000 * one.usage) / one.quota) / 10 : undefined) }],
    render: (one) => (
      <div class="share">
        <Meter usage={one.usage} limit={one.quota} unit={one.unit ?? ""} limitName="quota" />
        <span>{one.quota > 0 ? percent(one.usage, one.quota) : "–"}</span>
      </div>
    ),
  },
  {
    key: "state",
    title: "State",
    sortBy: (one) => shareOf(one.usage, one.quota),
    csv: [{ title: "State", value: (one) => stateText(stateOf(one.usage, one.quota), "quota") }],
    render: (one) => <StateMark state={stateOf(one.usage, one.quota)} text={stateText(stateOf(one.usage, one.quota), "quota")} />,
  },
  { key: "usage", title: "Used", class: "number", sortBy: (one) => one.usage, render: (one) => format(one.usage, one.unit) },
  { key: "quota", title: "Quota", class: "number", sortBy: (one) => one.quota, render: (one) => format(one.quota, one.unit) },
  {
    key: "why",
    title: "More",
    isTitleHidden: true,
    class: "act",
    render: (one) => (
      <a
        class="button small"
        aria-label={`History of ${titleOf(one)} of ${one.project.name}`}
        href={pagePath(placeOf(one), `/history?resource=${encodeURIComponent(resourceOf(one))}`)}
      >
        History
      </a>
    ),
  },
];
