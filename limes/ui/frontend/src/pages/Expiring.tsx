// Commitments that end soon and were not renewed: of the cloud, a domain or a project.
import { useRoute } from "preact-iso";
import { loadExpiring } from "../api/attention";
import type { ExpiringCommitmentsAnswer } from "../api/schema";
import { EndingTable } from "../commitments/EndingTable";
import { Content } from "../components/Content";
import { Nothing } from "../components/Nothing";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { useChoice } from "../lib/address";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import type { Place } from "../lib/paths";
import { counted } from "../lib/words";
import { SOON_DAYS } from "../overview/tiles";

const MOST = 1000;
const SPANS = [7, SOON_DAYS, 90, 365].map((days) => ({ value: String(days), title: `${days} days` }));

interface Answer extends ExpiringCommitmentsAnswer {
  loadedAt: number;
}

export default function Expiring() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
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
  return <EndingTable ending={answer.expiring_commitments} days={days} isWithDomain={!at.domain} />;
}
