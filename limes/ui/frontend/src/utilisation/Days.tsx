// One resource in one availability zone, day by day: as a chart, and as a table for those who cannot see it.
import { useMemo } from "preact/hooks";
import { type Column, DataTable } from "../components/DataTable";
import { lazily } from "../lib/lazily";
import { zoneName } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { resourceTitle } from "../session/resources";
import { format } from "../lib/units";
import { advice, commitPath, missing, type Summary, timesOf } from "./summary";

type Day = Summary["of"]["days"][number];

const FIGURES = [
  ["committed", "Committed"],
  ["used", "Used"],
  ["unused", "Unused"],
  ["min_used", "Least used"],
  ["max_used", "Most used"],
] as const;

function columnsIn(unit: string): Column<Day>[] {
  const day: Column<Day> = { key: "date", title: "Day (UTC)", isHeader: true, sortBy: (one) => one.date, render: (one) => one.date };
  const figures = FIGURES.map(
    ([key, title]): Column<Day> => ({
      key,
      title,
      class: "number",
      sortBy: (one) => one[key],
      render: (one) => format(one[key], unit),
      csv: [{ title: unit ? `${title} (${unit})` : title, value: (one) => one[key] }],
    }),
  );
  return [day, ...figures];
}

const Chart = lazily(() => import("../components/Chart"), "h2");

export function Days({ at, summary }: { at: Place; summary: Summary }) {
  const { days, unit = "", service_type: service, resource_name: name, availability_zone: zone, recommended_amount: recommended } = summary.of;
  const title = `${resourceTitle(service, name)} in ${zoneName(zone)}`;
  const times = useMemo(() => timesOf(days), [days]);
  const lines = useMemo(
    () => [
      { title: "Used", amounts: days.map((one) => one.used), colour: "--usage", isFilled: true },
      { title: "Least used", amounts: days.map((one) => one.min_used), colour: "--line-strong" },
      { title: "Committed", amounts: days.map((one) => one.committed), colour: "--committed", isStepped: true },
    ],
    [days],
  );
  const columns = useMemo(() => columnsIn(unit), [unit]);
  return (
    <section aria-label={title}>
      <h2 class="section">{title}</h2>
      <p class="lead">{advice(summary)}</p>
      {missing(summary) > 0 && (
        <p class="lead">
          <a class="button" href={pagePath(at, commitPath(summary))}>
            Commit to {format(missing(summary), unit)} more
          </a>
        </p>
      )}
      <Chart
        label={`Use and commitments of ${title}, day by day. ${format(recommended, unit)} were in use nearly always. The table below has the figures.`}
        times={times}
        lines={lines}
        unit={unit}
        isUtc
      />
      <details class="action">
        <summary>The figures</summary>
        <DataTable
          caption={`Days of ${title}`}
          columns={columns}
          rows={days}
          rowKey={(one) => one.date}
          order={{ key: "date", isDescending: true }}
          orderKey="days"
          empty="There are no figures yet."
          isWrapped
        />
      </details>
    </section>
  );
}
