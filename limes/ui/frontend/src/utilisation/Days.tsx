// One resource in one availability zone, day by day: as a chart, and as a table for who does not see it.
import { lazy } from "preact-iso";
import { useMemo } from "preact/hooks";
import { TableFrame } from "../components/TableFrame";
import { zoneName } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { resourceTitle } from "../session/resources";
import { format } from "../lib/units";
import { advice, commitPath, missing, type Summary, timesOf } from "./summary";

const Chart = lazy(() => import("../components/Chart"));

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
      />
      <details class="action">
        <summary>The figures</summary>
        <TableFrame caption={`Days of ${title}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                {["Committed", "Used", "Unused", "Least used", "Most used"].map((one) => (
                  <th key={one} scope="col" class="number">
                    {one}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.toReversed().map((one) => (
                <tr key={one.date}>
                  <th scope="row">{one.date}</th>
                  {[one.committed, one.used, one.unused, one.min_used, one.max_used].map((amount, index) => (
                    <td key={index} class="number">
                      {format(amount, unit)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </TableFrame>
      </details>
    </section>
  );
}
