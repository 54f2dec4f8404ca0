// Cloud, domain or project: all resources by area and service, with bars.
import { useRoute } from "preact-iso";
import { useState } from "preact/hooks";
import { loadReport, type Report } from "../api/report";
import { Content } from "../components/Content";
import { Field } from "../components/Field";
import { Legend } from "../components/Meter";
import { crumbsTo, Page } from "../components/Page";
import { selected, Services } from "../components/Services";
import { useLoad } from "../lib/load";
import { nameOf, useDomainName } from "../lib/names";
import { levelOf, pagePath, type Place } from "../lib/paths";
import { useMaySetQuota } from "../session/rights";
import { ProjectActions } from "./ProjectActions";

export default function Overview() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  useDomainName(at);
  const report = useLoad((signal) => loadReport(at, signal), [at]);
  const maySetQuota = useMaySetQuota(at);
  const id = project ?? domain;
  const level = levelOf(at);
  const actions = level !== "cloud" && report.data && (
    <>
      {level === "project" && report.data.project && <ProjectActions at={at} project={report.data.project} changed={report.reload} />}
      {maySetQuota && (
        <a class="button primary" href={pagePath(at, "/quota")}>
          Set quota
        </a>
      )}
    </>
  );
  return (
    <Page
      title={id ? nameOf(id) : "Cloud"}
      kind={level === "cloud" ? undefined : level}
      crumbs={crumbsTo(at)}
      actions={actions}
    >
      <Content of={report}>{(data) => <Resources report={data} />}</Content>
    </Page>
  );
}

function Resources({ report }: { report: Report }) {
  const [wanted, setWanted] = useState("");
  const [hidesEmpty, setHidesEmpty] = useState(false);
  const services = selected(report.services, wanted, hidesEmpty);
  return (
    <>
      <div class="tools">
        <Field label="Search resources" name="search" type="search" onInput={setWanted} />
        <label class="check">
          <input type="checkbox" checked={hidesEmpty} onChange={(event) => setHidesEmpty(event.currentTarget.checked)} />
          Only what is in use
        </label>
        <Legend level={report.level} />
      </div>
      {services.length === 0 && <p class="empty">There is no such resource.</p>}
      <Services services={services} level={report.level} place={report.place} />
    </>
  );
}
