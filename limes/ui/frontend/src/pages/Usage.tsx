// How usage has grown, of a resource in the cloud, a domain or a project: over a time for which there are data.
import { useRoute } from "preact-iso";
import { useEffect, useMemo } from "preact/hooks";
import { loadForecast, loadUsage, loadUsed } from "../api/attention";
import type { ResourceForecast, UsageDay, UsageOfResource } from "../api/schema";
import { Content } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { useChoice } from "../lib/address";
import { inUnit } from "../lib/csv";
import { lazily } from "../lib/lazily";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import { levelOf, type Place } from "../lib/paths";
import { format } from "../lib/units";
import { resourceTitle } from "../session/resources";
import { forecastText } from "../usage/forecast";
import { axisOf, growthText, limitsIn, linesOf, nameOfTime, outlookOf, timesOf } from "../usage/growth";
import { type Granularity, pointsOf, type Range, rangeOf, rangesFor } from "../usage/ranges";

const Chart = lazily(() => import("../components/Chart"), "h2");

/** Milliseconds between two looks whether there is a first sample. */
const FIRST = 10_000;
const keyOf = (one: UsageOfResource): string => `${one.service}/${one.resource}`;
const WHOSE = { cloud: "All projects together", domain: "All projects of the domain together", project: "The project" };

export default function Usage() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  const [span, setSpan] = useChoice("days", "");
  const [chosen, choose] = useChoice("resource", "");
  const resources = useLoad((signal) => loadUsed(at, signal), [at]);
  const isEmpty = resources.data?.length === 0 && !resources.isLoading;
  useEffect(() => {
    if (!isEmpty) return undefined;
    const timer = setTimeout(resources.reload, FIRST);
    return () => clearTimeout(timer);
  }, [isEmpty]);
  const key = chosen || (resources.data?.[0] && keyOf(resources.data[0]));
  const options = (resources.data ?? []).map((one) => ({ value: keyOf(one), title: resourceTitle(one.service, one.resource), group: one.service }));
  const now = Date.now() / 1000;
  const since = resources.data?.find((one) => keyOf(one) === key)?.since;
  const range = rangeOf(span, since, now);
  const loaded = useLoad(
    async (signal) => (key && resources.data ? { one: await loadShown(at, range, key, signal) } : {}),
    [at, range.days, key, resources.data !== undefined],
  );
  const forecast = useLoad(async (signal) => (key ? loadForecast(at, key, signal) : undefined), [at, key]);
  const id = project ?? domain;
  return (
    <Page title="Usage over time" kind={id && nameOf(id)} crumbs={crumbsTo(at, true)}>
      <p class="lead">
        {WHOSE[levelOf(at)]}, all zones: averages of each {loaded.data?.one?.granularity ?? range.granularity}.
      </p>
      <div class="tools">
        {options.length > 0 && <Select label="Resource" value={key ?? ""} options={options} choose={choose} />}
        <Select label="Over the last" value={String(range.days)} options={rangesFor(since, range, now)} choose={setSpan} />
      </div>
      <Content of={resources}>
        {(known) =>
          known.length === 0 && !chosen ? (
            <p class="empty">No usage was recorded yet. The first chart appears here within half a minute of the first figures.</p>
          ) : (
            <Content of={loaded}>{({ one }) => (one ? <Shown key={key} {...one} forecast={forecast.data} /> : <p class="empty">No usage of this resource was recorded in this time.</p>)}</Content>
          )
        }
      </Content>
    </Page>
  );
}

interface Usage {
  of: UsageOfResource;
  granularity: Granularity;
  points: UsageDay[];
}

/** Days, where there are no hours so far, or where they are not kept for as long as the range goes. */
async function loadShown(at: Place, range: Range, key: string, signal: AbortSignal): Promise<Usage | undefined> {
  const { days, granularity } = range;
  // the hours of today, and as many of yesterday as make a day of 24 hours
  const of = await loadUsage(at, granularity === "hour" ? days + 1 : days, granularity, key, signal);
  const points = of && pointsOf(of, range, Date.now() / 1000);
  if (of && points?.length) return { of, granularity, points };
  const other = await loadUsage(at, days, "day", key, signal);
  return other && { of: other, granularity: "day", points: other.days };
}

function Shown({ of: { service, resource, unit = "" }, granularity, points, forecast }: Usage & { forecast?: ResourceForecast | undefined }) {
  const title = resourceTitle(service, resource);
  const outlook = useMemo(() => outlookOf(points, forecast?.growth_per_day?.expected), [points, forecast]);
  const times = useMemo(() => [...timesOf(points), ...(outlook ? [outlook.at] : [])], [points, outlook]);
  const lines = useMemo(() => linesOf(points, outlook), [points, outlook]);
  const text = growthText(points, unit);
  const caption = `Use of ${title} ${granularity} by ${granularity}`;
  return (
    <>
      <p class="growth" role="status">
        {text}
      </p>
      {forecast && (
        <p class="forecast">{forecastText(forecast, Date.now() / 1000)}</p>
      )}
      <Chart label={`${caption}. ${text} The table below has the figures.`} times={times} lines={lines} unit={unit} axis={axisOf(points, outlook)} isUtc />
      <DataTable
        caption={caption}
        columns={columns(points, unit, granularity)}
        rows={points}
        rowKey={(one) => one.date}
        order={{ key: "date", isDescending: true }}
        empty={null}
      />
    </>
  );
}

const TITLES = { hour: "Hour (UTC)", day: "Day (UTC)", month: "Month (UTC)" };

function columns(points: UsageDay[], unit: string, granularity: Granularity): Column<UsageDay>[] {
  const amount = (key: "used" | "committed" | "quota" | "capacity", title: string): Column<UsageDay> => ({
    key,
    title,
    class: "number",
    sortBy: (one) => one[key] ?? -1,
    render: (one) => (one[key] === undefined ? <span class="muted">–</span> : format(one[key], unit)),
    csv: [{ title: inUnit(title, () => unit), value: (one) => one[key] }],
  });
  return [
    { key: "date", title: TITLES[granularity], isHeader: true, sortBy: (one) => one.date, render: (one) => nameOfTime(one.date) },
    amount("used", "Used"),
    amount("committed", "Committed"),
    ...limitsIn(points).map(({ key, title }) => amount(key, title)),
  ];
}
