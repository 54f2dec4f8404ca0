// Cloud, domain or project: what needs attention, and then all resources by area and service, with bars, fullest first.
import { useRoute } from "preact-iso";
import { useState } from "preact/hooks";
import { FirstAlerts } from "../alerts/FirstAlerts";
import { loadReport, type Report } from "../api/report";
import { Content } from "../components/Content";
import { Field } from "../components/Field";
import { Legend } from "../components/Meter";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { selected, Services, type Shown, SHOWN } from "../components/Services";
import { OpenGrowthDialog } from "../growth/GrowthActions";
import { ProjectLabels } from "../labels/ProjectLabels";
import { useChoice } from "../lib/address";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import { type Level, levelOf, pagePath, type Place } from "../lib/paths";
import { Banner } from "../overview/Banner";
import { failingIn, failingOf } from "../overview/failing";
import { statusError, useScrapeStatus } from "../overview/status";
import { Tiles } from "../overview/Tiles";
import { WhoAsks } from "../requests/WhoAsks";
import { newRequestPath } from "../requests/words";
import { useMayOnlyAsk, useMaySetQuota, useRights } from "../session/rights";
import { ProjectActions } from "./ProjectActions";

export default function Overview() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  const report = useLoad((signal) => loadReport(at, signal), [at]);
  const maySetQuota = useMaySetQuota(at);
  const mayBuy = useRights(at)?.project.buy_commitments ?? false;
  const mayOnlyAsk = useMayOnlyAsk(at);
  const id = project ?? domain;
  const level = levelOf(at);
  const actions = level !== "cloud" && report.data && (
    <>
      {level === "project" && report.data.project && <ProjectActions at={at} project={report.data.project} changed={report.reload} />}
      {level === "project" && mayBuy && report.data.services.some(({ resources }) => resources.some((one) => "commitment_config" in one.raw)) && (
        <a class="button" href={pagePath(at, "/commitments?do=buy")}>
          Buy commitment
        </a>
      )}
      {mayOnlyAsk && (
        <a class="button" href={newRequestPath(at, [])}>
          Request more
        </a>
      )}
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
      <WhoAsks at={at} />
      {level === "project" && !report.error && <ProjectLabels key={pagePath(at)} at={at} />}
      {!report.error && <Attention key={pagePath(at)} at={at} report={report.data} />}
      <Content of={report}>{(data) => <Resources report={data} changed={report.reload} />}</Content>
    </Page>
  );
}

const MORE: Partial<Record<Level, (at: Place) => { title: string; href: string }>> = {
  cloud: () => ({ title: "Why, and in which projects", href: "/ui/scrape-errors" }),
  domain: (at) => ({ title: "All backends", href: pagePath(at, "/backends") }),
};

function Attention({ at, report }: { at: Place; report: Report | undefined }) {
  const rights = useRights(at);
  const maySeeStatus = at.domain ? rights?.domain.show : rights?.cloud.show_errors;
  const status = useScrapeStatus(maySeeStatus && !at.project ? at : undefined);
  const failing = status ? failingOf(status) : at.project && report ? failingIn(report) : [];
  return (
    <>
      <Banner failing={failing} more={MORE[levelOf(at)]?.(at)} />
      <Tiles {...{ at, rights, report, status }} error={at.project ? undefined : statusError(at)} />
      <FirstAlerts at={at} />
    </>
  );
}

const NOTHING: Record<Shown, string> = {
  "": "There is no such resource.",
  used: "No such resource is in use.",
  full: "No resource is used above 80 %.",
  failing: "Every service was read when it was last tried.",
};

function Resources({ report, changed }: { report: Report; changed: () => void }) {
  const [wanted, setWanted] = useState("");
  const [choice, choose] = useChoice("show", "");
  const shown = choice in SHOWN ? (choice as Shown) : "";
  const services = selected(report.services, wanted, shown);
  return (
    <>
      <div class="tools">
        <Field label="Search resources" name="search" type="search" onInput={setWanted} />
        <Select
          label="Show"
          value={shown}
          options={Object.entries(SHOWN).map(([value, title]) => ({ value, title }))}
          choose={choose}
        />
        <Legend level={report.level} />
      </div>
      {services.length === 0 && <p class="empty">{NOTHING[shown]}</p>}
      <Services services={services} level={report.level} place={report.place} />
      <OpenGrowthDialog all={report.services.flatMap((one) => one.resources)} place={report.place} changed={changed} />
    </>
  );
}
