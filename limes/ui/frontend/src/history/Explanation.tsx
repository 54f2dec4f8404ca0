// Why a quota is what it is, and within which bounds this user could set it.
import type { Explanation as Data } from "../api/schema";
import { formatTime } from "../lib/time";
import { format } from "../lib/units";
import { boundText, whoOf, whyOf } from "./changes";

export function Explanation({ data }: { data: Data }) {
  const { unit, origin } = data;
  const figures: [string, number | undefined][] = [
    ["Quota", data.quota],
    ["Used", data.usage],
    ["Committed", data.committed],
    ["All projects of the domain", data.projects_quota],
    ["Domain quota", data.domain_quota],
    ["Other domains", data.other_domains_quota],
    ["Capacity", data.capacity],
    ["Usable with bursting", data.usable_quota],
    ["Smallest quota above zero", data.min_nonzero_project_quota],
  ];
  return (
    <section class="card explanation" aria-label="Explanation">
      <dl class="facts">
        {figures.map(
          ([title, amount]) =>
            amount !== undefined && (
              <div key={title}>
                <dt>{title}</dt>
                <dd>{format(amount, unit)}</dd>
              </div>
            ),
        )}
        {data.constraint && (
          <div>
            <dt>Constraint</dt>
            <dd>{data.constraint}</dd>
          </div>
        )}
      </dl>
      <ul class="bullets">
        <li>
          {origin
            ? `It was set to this by ${whoOf(origin)} on ${formatTime(origin.at)}, ${whyOf(origin)}.`
            : "The change that made it is older than the history."}
        </li>
        {data.warnings?.map((text) => <li key={text}>{`Mind: ${text}.`}</li>)}
        <li>You could lower it to {boundText(data.min_acceptable_quota, unit)}.</li>
        <li>You could raise it to {boundText(data.max_acceptable_quota, unit)}.</li>
      </ul>
    </section>
  );
}
