// How usage has grown: day by day, of a resource in the cloud, a domain or a project.
import { lazy, useRoute } from "preact-iso";
import { useMemo } from "preact/hooks";
import { loadForecast, loadHours, loadUsage } from "../api/attention";
import type { ResourceForecast, UsageDay, UsageOfResource } from "../api/schema";
import { Content } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { useChoice } from "../lib/address";
import { inUnit } from "../lib/csv";
import { useLoad } from "../lib/load";
import { nameOf, useDomainName } from "../lib/names";
import { levelOf, type Place } from "../lib/paths";
import { format } from "../lib/units";
import { resourceTitle } from "../session/resources";
import { forecastText } from "../usage/forecast";
import { growthText, limitLines, timesOf } from "../usage/growth";

const Chart = lazy(() => import("../components/Chart"));

const SPANS = [7, 30, 90, 365].map((days) => ({ value: String(days), title: `${days} days` }));
/** A chart of so few days says nothing, so it is one of hours then. */
const FEW_DAYS = 2;
const keyOf = (one: UsageOfResource): string => `${one.service}/${one.resource}`;
const WHOSE = { cloud: "All projects together", domain: "All projects of the domain together", project: "The project" };

export default function Usage() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  useDomainName(at);
  const [span, setSpan] = useChoice("days", "30");
  const [chosen, choose] = useChoice("resource", "");
  // two days, because the first look at today may be still to come
  const resources = useLoad((signal) => loadUsage(at, 2, undefined, signal), [at]);
  const key = chosen || (resources.data?.[0] && keyOf(resources.data[0]));
  const options = (resources.data ?? []).map((one) => ({ value: keyOf(one), title: resourceTitle(one.service, one.resource), group: one.service }));
  const loaded = useLoad(async (signal) => (key ? loadUsage(at, Number(span), key, signal) : []), [at, span, key]);
  const isNew = (loaded.data?.[0]?.days.length ?? FEW_DAYS + 1) <= FEW_DAYS;
  const hours = useLoad(async (signal) => (key && isNew ? loadHours(at, FEW_DAYS, key, signal) : undefined), [at, key, isNew]);
  const forecast = useLoad(async (signal) => (key ? loadForecast(at, key, signal) : undefined), [at, key]);
  const id = project ?? domain;
  return (
    <Page title="Usage over time" kind={id && nameOf(id)} crumbs={crumbsTo(at, true)}>
      <p class="lead">
        {WHOSE[levelOf(at)]}, all zones: averages of each day.
      </p>
      <div class="tools">
        {options.length > 0 && <Select label="Resource" value={key ?? ""} options={options} choose={choose} />}
        <Select label="Over the last" value={span} options={SPANS} choose={setSpan} />
      </div>
      <Content of={resources}>
        {(known) =>
          known.length === 0 && !chosen ? (
            <p class="empty">No usage was recorded yet. The first sample comes within half an hour.</p>
          ) : (
            <Content of={loaded}>{([one]) => (one ? <Days key={key} of={one} hours={hours.data} forecast={forecast.data} /> : <p class="empty">No usage of this resource was recorded in these days.</p>)}</Content>
          )
        }
      </Content>
    </Page>
  );
}

interface Shown {
  of: UsageOfResource;
  /** Where there are too few days for a chart. */
  hours?: UsageDay[];
  forecast?: ResourceForecast;
}

function Days({ of: { days, service, resource, unit = "" }, hours, forecast }: Shown) {
  const title = resourceTitle(service, resource);
  const points = hours?.length ? hours : days;
  const times = useMemo(() => timesOf(points), [points]);
  const lines = useMemo(
    () => [
      { title: "Used", amounts: points.map((one) => one.used), colour: "--usage", isFilled: true },
      { title: "Committed", amounts: points.map((one) => one.committed), colour: "--committed", isStepped: true },
      ...limitLines(points),
    ],
    [points],
  );
  const text = growthText(days, unit);
  return (
    <>
      <p class="growth" role="status">
        {text}
      </p>
      {forecast && (
        <p class="forecast">{forecastText(forecast, Date.now() / 1000)}</p>
      )}
      <Chart label={`Use of ${title} day by day. ${text} The table below has the figures.`} times={times} lines={lines} unit={unit} />
      <DataTable
        caption={`Use of ${title} day by day`}
        columns={columns(unit)}
        rows={days}
        rowKey={(one) => one.date}
        order={{ key: "date", isDescending: true }}
        empty={null}
      />
    </>
  );
}

function columns(unit: string): Column<UsageOfResource["days"][number]>[] {
  return [
    { key: "date", title: "Day (UTC)", isHeader: true, sortBy: (one) => one.date, render: (one) => one.date },
    { key: "used", title: "Used", class: "number", sortBy: (one) => one.used, render: (one) => format(one.used, unit), csv: [{ title: inUnit("Used", () => unit), value: (one) => one.used }] },
    { key: "committed", title: "Committed", class: "number", sortBy: (one) => one.committed, render: (one) => format(one.committed, unit), csv: [{ title: inUnit("Committed", () => unit), value: (one) => one.committed }] },
  ];
}
