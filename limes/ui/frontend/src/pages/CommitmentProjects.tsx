// Commitments of the cloud or a domain: in sum, what ends soon, and who has how many.
import { useRoute } from "preact-iso";
import { loadSums } from "../api/commitmentSums";
import { EndingTable } from "../commitments/EndingTable";
import { ProjectTable } from "../commitments/ProjectTable";
import { ZoneTable } from "../commitments/ZoneTable";
import { Content } from "../components/Content";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { useAddress } from "../lib/address";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import type { Place } from "../lib/paths";

const SPANS = [30, 90, 365].map((days) => ({ value: String(days), title: `${days} days` }));

export default function CommitmentProjects() {
  const { domain } = useRoute().params as Place;
  const at = { domain };
  const [{ days = "30" }, change] = useAddress();
  const sums = useLoad((signal) => loadSums(at, days, signal), [at, days]);
  function choose(resource: string): void {
    change({ resource });
    document.getElementById("by-project")?.scrollIntoView();
  }
  return (
    <Page title={domain ? `Commitments of ${nameOf(domain)}` : "Commitments"} crumbs={crumbsTo(at, true)}>
      <div class="tools">
        <Select label="Ends within" value={days} options={SPANS} choose={(value) => change({ days: value })} />
      </div>
      <Content of={sums}>
        {({ zones, ending, endingCount }) => (
          <>
            <h2 class="section">By resource and zone</h2>
            <ZoneTable zones={zones} days={days} choose={choose} />
            <h2 class="section">
              Ends soon <span class="count">{endingCount.toLocaleString("en")}</span>
            </h2>
            {endingCount > ending.length && <p class="lead">The first {ending.length.toLocaleString("en")} of them:</p>}
            <EndingTable ending={ending} days={days} isWithDomain={domain === undefined} />
          </>
        )}
      </Content>
      <h2 class="section" id="by-project">
        By project
      </h2>
      <ProjectTable at={at} />
    </Page>
  );
}
