// Cloud, domain or project: all resources by area and service, with bars.
import { useRoute } from "preact-iso";
import { Content } from "../components/Content";
import { Page } from "../components/Page";
import { Services } from "../components/Services";
import { loadReport } from "../api/report";
import { useLoad } from "../lib/load";
import type { Place } from "../lib/paths";

export default function Overview() {
  const at = useRoute().params as Place;
  const report = useLoad((signal) => loadReport(at, signal), [at]);
  const title = report.data?.name ?? "…";
  return (
    <Page title={at.domain ? title : "Cloud"} kind={at.project ? "project" : at.domain ? "domain" : undefined}>
      <Content of={report}>{(data) => <Services services={data.services} level={data.level} />}</Content>
    </Page>
  );
}
