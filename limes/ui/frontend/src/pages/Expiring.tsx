// Commitments that end soon and that nobody has renewed: of the cloud, a domain or a project.
import { useRoute } from "preact-iso";
import { loadExpiring } from "../api/attention";
import type { EndingCommitment, ExpiringCommitmentsAnswer } from "../api/schema";
import { Content } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { Nothing } from "../components/Nothing";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { StateMark } from "../components/StateMark";
import { useChoice } from "../lib/address";
import { useLoad } from "../lib/load";
import { nameOf, useDomainName, zoneName } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { formatTime, relative } from "../lib/time";
import { format } from "../lib/units";
import { counted } from "../lib/words";
import { SOON_DAYS } from "../overview/tiles";

const MOST = 1000;
const WEEK = 7 * 86400;
const SPANS = [7, SOON_DAYS, 90, 365].map((days) => ({ value: String(days), title: `${days} days` }));

interface Answer extends ExpiringCommitmentsAnswer {
  loadedAt: number;
}

export default function Expiring() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  useDomainName(at);
  const [days, choose] = useChoice("days", String(SOON_DAYS));
  const load = async (signal: AbortSignal): Promise<Answer> => ({
    ...(await loadExpiring(at, Number(days), MOST, signal)),
    loadedAt: Date.now() / 1000,
  });
  const loaded = useLoad(load, [at, days]);
  const id = project ?? domain;
  return (
    <Page
      title="Commitments ending soon"
      kind={id && nameOf(id)}
      crumbs={crumbsTo(at, true)}
      actions={<button onClick={loaded.reload}>Reload</button>}
    >
      <p class="lead">Confirmed commitments that end soon and were not renewed. What they cover can then be given to others.</p>
      <div class="tools">
        <Select label="Within" value={days} options={SPANS} choose={choose} />
        <p class="muted" role="status">
          {loaded.data && total(loaded.data)}
        </p>
      </div>
      <Content of={loaded}>{(answer) => <List at={at} days={days} answer={answer} />}</Content>
    </Page>
  );
}

function total({ expiring_commitments: shown, total: all }: Answer): string {
  const those = counted(all, "commitment");
  return all > shown.length ? `${those}; these are the first ${shown.length.toLocaleString("en")} to end` : those;
}

function List({ at, days, answer }: { at: Place; days: string; answer: Answer }) {
  if (answer.total === 0) return <Nothing text={`No commitment ends within ${days} days without being renewed.`} checkedAt={answer.loadedAt} />;
  return (
    <DataTable
      caption="Commitments ending soon"
      columns={[...NAMES, ...(at.project ? [] : [PROJECT]), ...(at.domain ? [] : [DOMAIN]), ...COLUMNS]}
      rows={answer.expiring_commitments}
      rowKey={(one) => one.uuid}
      order={{ key: "ends", isDescending: false }}
      empty={null}
    />
  );
}

const placeOf = ({ project }: EndingCommitment): Place => ({ domain: project.domain.id, project: project.id });
const resourceOf = (one: EndingCommitment): string => `${one.service}/${one.resource}`;

const NAMES: Column<EndingCommitment>[] = [
  {
    key: "what",
    title: "Commitment",
    isHeader: true,
    sortBy: resourceOf,
    render: (one) => (
      <a href={pagePath(placeOf(one), `/commitments?do=manage&id=${one.id}`)}>
        {format(one.amount, one.unit)} {resourceOf(one)}
      </a>
    ),
  },
  {
    key: "ends",
    title: "Ends",
    sortBy: (one) => one.expires_at,
    render: (one) => (
      <span title={formatTime(one.expires_at)}>
        {relative(one.expires_at)} <StateMark state={one.expires_at - Date.now() / 1000 < WEEK ? "critical" : "ok"} text="within a week" />
      </span>
    ),
  },
];

const PROJECT: Column<EndingCommitment> = {
  key: "project",
  title: "Project",
  sortBy: (one) => one.project.name,
  render: (one) => <a href={pagePath(placeOf(one))}>{one.project.name}</a>,
};

const DOMAIN: Column<EndingCommitment> = {
  key: "domain",
  title: "Domain",
  sortBy: (one) => one.project.domain.name,
  render: ({ project }) => <a href={pagePath({ domain: project.domain.id })}>{project.domain.name}</a>,
};

const COLUMNS: Column<EndingCommitment>[] = [
  { key: "zone", title: "Zone", sortBy: (one) => one.availability_zone, render: (one) => zoneName(one.availability_zone) },
  { key: "duration", title: "Duration", sortBy: (one) => one.duration, render: (one) => one.duration },
  { key: "at", title: "On", sortBy: (one) => one.expires_at, render: (one) => formatTime(one.expires_at) },
];
