// Scrapes that fail: how each service and capacitor does, and one row for each service and message.
import { loadScrapeStatus } from "../api/attention";
import { loadScrapeErrors } from "../api/findings";
import type { ScrapeError, ScrapeStatus } from "../api/schema";
import { Content } from "../components/Content";
import { CopyField } from "../components/CopyField";
import { type Column, DataTable } from "../components/DataTable";
import { Dialog } from "../components/Dialog";
import { Field } from "../components/Field";
import { Nothing } from "../components/Nothing";
import { Page } from "../components/Page";
import { Select } from "../components/Select";
import { BackendTable, CapacitorErrors } from "../findings/BackendTable";
import { affected, filteredErrors } from "../findings/lists";
import { useAddress } from "../lib/address";
import { useLoad } from "../lib/load";
import { pagePath } from "../lib/paths";
import { isoTime } from "../lib/csv";
import { formatTime, relative } from "../lib/time";
import { counted } from "../lib/words";
import { refreshStatus } from "../overview/status";

const keyOf = (one: ScrapeError): string => `${one.service_type} ${one.project.id}`;
const placeOf = ({ project }: ScrapeError) => ({ domain: project.domain.id, project: project.id });

interface Found {
  status: ScrapeStatus;
  errors: ScrapeError[];
}

async function load(signal: AbortSignal): Promise<Found> {
  const [status, errors] = await Promise.all([loadScrapeStatus({}, signal), loadScrapeErrors(signal)]);
  refreshStatus({}); // so that the navigation agrees
  return { status, errors };
}

export default function ScrapeErrors() {
  const found = useLoad(load, []);
  return (
    <Page title="Scrape errors" actions={<button onClick={found.reload}>Reload</button>}>
      <p class="lead">
        Where the collector cannot read usage from a backend, or capacity from a capacitor. Figures stay as they were, and get older, until a scrape succeeds.
      </p>
      <Content of={found}>{(data) => <Both {...data} />}</Content>
    </Page>
  );
}

function Both({ status, errors }: Found) {
  return (
    <>
      <h2 class="section">Services and capacitors</h2>
      <BackendTable status={status} />
      <CapacitorErrors status={status} />
      <h2 class="section">Errors in projects</h2>
      {errors.length === 0 ? <Nothing text="Every scrape of a project succeeds." checkedAt={status.checked_at} /> : <Errors all={errors} />}
    </>
  );
}

function Errors({ all }: { all: ScrapeError[] }) {
  const [choices, change] = useAddress();
  const { service = "", search = "", error = "" } = choices;
  const services = [...new Set(all.map((one) => one.service_type))].sort();
  const rows = filteredErrors(all, service, search);
  const opened = all.find((one) => keyOf(one) === error);
  const scrapes = rows.reduce((sum, one) => sum + affected(one), 0);
  return (
    <>
      <div class="tools">
        <Select
          label="Service"
          value={service}
          options={[{ value: "", title: "All services" }, ...services.map((value) => ({ value, title: value }))]}
          choose={(value) => change({ service: value })}
        />
        <Field label="Search" name="search" type="search" value={search} onInput={(value) => change({ search: value })} />
        <p class="muted" role="status">
          {counted(rows.length, "kind of error", "kinds of errors")}, {counted(scrapes, "failing scrape")}
        </p>
      </div>
      <DataTable
        caption="Scrape errors"
        columns={columns((one) => change({ error: keyOf(one) }, true))}
        rows={rows}
        rowKey={keyOf}
        order={{ key: "affected", isDescending: true }}
        empty={<p class="empty">No error matches.</p>}
      />
      {opened && (
        <Dialog title={`${opened.service_type} cannot be scraped`} close={() => change({ error: undefined })}>
          <Details of={opened} />
        </Dialog>
      )}
    </>
  );
}

function columns(open: (one: ScrapeError) => void): Column<ScrapeError>[] {
  return [
    { key: "service", title: "Service", sortBy: (one) => one.service_type, render: (one) => one.service_type },
    {
      key: "message",
      title: "Message",
      isHeader: true,
      class: "wide",
      sortBy: (one) => one.message,
      render: (one) => (
        <button class="link message" title={one.message} onClick={() => open(one)}>
          {one.message}
        </button>
      ),
    },
    { key: "affected", title: "Projects", class: "number", sortBy: affected, render: (one) => affected(one).toLocaleString("en") },
    { key: "project", title: "Such as", sortBy: (one) => one.project.name, render: (one) => <a href={pagePath(placeOf(one))}>{one.project.name}</a> },
    {
      key: "domain",
      title: "Domain",
      sortBy: (one) => one.project.domain.name,
      render: ({ project }) => <a href={pagePath({ domain: project.domain.id })}>{project.domain.name}</a>,
    },
    {
      key: "checked",
      title: "Last tried",
      sortBy: (one) => one.checked_at,
      csv: [{ title: "Last tried", value: (one) => isoTime(one.checked_at) }],
      render: (one) => <span title={formatTime(one.checked_at)}>{relative(one.checked_at)}</span>,
    },
  ];
}

function Details({ of: one }: { of: ScrapeError }) {
  const others = affected(one) - 1;
  return (
    <>
      <p class="message-text">{one.message}</p>
      <dl class="facts">
        <dt>Project</dt>
        <dd>
          <a href={pagePath(placeOf(one))}>{one.project.name}</a>
          {others > 0 && ` and ${counted(others, "other")}`}
        </dd>
        <dt>Domain</dt>
        <dd>
          <a href={pagePath({ domain: one.project.domain.id })}>{one.project.domain.name}</a>
        </dd>
        <dt>Last tried</dt>
        <dd>
          {formatTime(one.checked_at)} ({relative(one.checked_at)})
        </dd>
      </dl>
      <CopyField label="To try it by hand" value={`limes plugin test ${one.service_type} --project ${one.project.id}`} />
    </>
  );
}
