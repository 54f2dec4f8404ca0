// How the backends of a domain's projects do. What they say is for those who look after the cloud.
import { useRoute } from "preact-iso";
import { loadScrapeStatus } from "../api/attention";
import { Content } from "../components/Content";
import { crumbsTo, Page } from "../components/Page";
import { BackendTable } from "../findings/BackendTable";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import type { Place } from "../lib/paths";

export default function Backends() {
  const { domain } = useRoute().params as Place;
  const at = { domain };
  const status = useLoad((signal) => loadScrapeStatus(at, signal), [at]);
  return (
    <Page title="Backends" kind={nameOf(domain ?? "")} crumbs={crumbsTo(at, true)} actions={<button onClick={status.reload}>Reload</button>}>
      <p class="lead">Where Limes reads usage and sets quotas. Figures stay as they were while a backend fails; your cloud's operators see why.</p>
      <Content of={status}>{(data) => <BackendTable status={data} />}</Content>
    </Page>
  );
}
