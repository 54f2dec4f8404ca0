// Why a quota is what it is, and within which bounds this user could set it.
import type { Explanation as Data } from "../api/schema";
import { adviceText, boundTexts, stepTexts } from "../growth/steps";
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
    ["Domain quota", growsByItself(data) ? undefined : data.domain_quota],
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
            : "It was set before the history begins."}
        </li>
        {data.warnings?.map((text) => <li key={text}>{`Mind: ${text}.`}</li>)}
        {growsByItself(data) ? (
          <li>
            {data.other_domains_quota === undefined
              ? "It cannot be set: it follows usage and commitments by itself."
              : "It cannot be set: it is the sum of the quotas of the projects, which grow by themselves."}
          </li>
        ) : (
          <>
            <li>You could lower it to {boundText(data.min_acceptable_quota, unit)}.</li>
            <li>You could raise it to {boundText(data.max_acceptable_quota, unit)}.</li>
          </>
        )}
      </ul>
      {data.growth && <Growth growth={data.growth} unit={unit} />}
    </section>
  );
}

const growsByItself = (data: Data): boolean => data.max_acceptable_quota.rule === "quota_distribution_model";

function Growth({ growth, unit }: { growth: NonNullable<Data["growth"]>; unit: string | undefined }) {
  const bounds = boundTexts(growth, unit);
  return (
    <>
      <h2>What it is made of</h2>
      <dl class="facts">
        {stepTexts(growth, unit).map(([title, text]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {bounds.map((text) => (
        <p key={text}>{text}</p>
      ))}
      {growth.raised_by.length > 0 && (
        <>
          <h2>What would raise it</h2>
          <ul class="bullets">
            {growth.raised_by.map((one) => (
              <li key={one.message}>{adviceText(one.message)}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

