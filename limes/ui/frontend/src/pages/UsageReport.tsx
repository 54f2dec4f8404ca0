// What was used and committed over time, as a file for bills and spreadsheets.
import { useRoute } from "preact-iso";
import { useEffect, useRef, useState } from "preact/hooks";
import { hasMonth, readReport, reportPath } from "../api/usageReports";
import { Commands } from "../commands/Commands";
import { reportingUsage } from "../commands/usageReport";
import { Content } from "../components/Content";
import { Field } from "../components/Field";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { useAddress } from "../lib/address";
import { save } from "../lib/csv";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import { notify } from "../lib/notices";
import { levelOf, type Place } from "../lib/paths";
import { useSubmit } from "../lib/submit";
import { useResources } from "../session/resources";
import { daysOf, GRANULARITIES, monthsUpTo, monthTitle, OTHER_DAYS, readChoice, reportFile, usualMonth, type Wanted } from "../usageReport/choice";
import type { Progress } from "../usageReport/pages";
import { Preview } from "../usageReport/Preview";

const WHOSE = { cloud: "all projects", domain: "all projects of the domain", project: "the project" };
const ALL = { value: "", title: "All resources" };

export default function UsageReport() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  const now = new Date();
  const hasBefore = useLoad((signal) => hasMonth(at, usualMonth(now, true), signal), [at]);
  const id = project ?? domain;
  return (
    <Page title="Usage report" kind={id && nameOf(id)} crumbs={crumbsTo(at, true)}>
      <p class="lead">
        What {WHOSE[levelOf(at)]} used and committed, by project, resource and zone, as a file of comma-separated values. Amounts are
        amount-seconds: divide them by 3600 for core-hours and the like. Days and months are those of UTC.
      </p>
      <Content of={hasBefore}>{(has) => <ReportForm at={at} now={now} hasBefore={has} />}</Content>
    </Page>
  );
}

interface Props {
  at: Place;
  now: Date;
  /** Whether there is an account of the month before the present one. */
  hasBefore: boolean;
}

function ReportForm({ at, now, hasBefore }: Props) {
  const [choices, change] = useAddress();
  const usual = usualMonth(now, hasBefore);
  const { wanted, problem, period } = readChoice(choices, usual);
  const file = wanted && reportFile(at.domain ? [at.domain, at.project].flatMap((id) => (id ? [nameOf(id)] : [])) : ["cloud"], period, wanted);
  const months = monthsUpTo(now, hasBefore);
  const month = choices.month ?? usual;
  const known = month === OTHER_DAYS || months.includes(month) ? months : [...months, month];
  const ofMonths = [...known.map((value) => ({ value, title: titleOf(value) })), { value: OTHER_DAYS, title: "Other days" }];
  const ofResources = (useResources().data ?? []).map(({ service, name, title }) => ({ value: `${service}/${name}`, title, group: service }));
  const days = daysOf(usual);
  return (
    <div class="stack">
      <div class="tools">
        <Select label="Month" value={month} options={ofMonths} choose={(value) => change({ month: value, first: undefined, last: undefined })} />
        {month === OTHER_DAYS && (
          <>
            <Field label="First day" name="first" type="date" value={choices.first ?? days.first} onInput={(first) => change({ first })} />
            <Field label="Last day" name="last" type="date" value={choices.last ?? days.last} onInput={(last) => change({ last })} />
          </>
        )}
        <Select label="A row for each" value={choices.each ?? "month"} options={GRANULARITIES} choose={(each) => change({ each })} />
        <Select label="Resource" value={choices.resource ?? ""} options={[ALL, ...ofResources]} choose={(resource) => change({ resource })} />
      </div>
      {wanted && <Preview at={at} wanted={wanted} />}
      <Commands of={wanted && file ? reportingUsage(at, wanted, file) : undefined}>
        A large report has several pages. The client reads them all; <code>curl</code> gets the first, whose header <code>Link</code> leads to the next.
      </Commands>
      {problem && <p class="problem request-problem">{problem}</p>}
      <Download at={at} wanted={wanted} file={file} />
    </div>
  );
}

const titleOf = (month: string): string => (/^\d{4}-\d\d$/.test(month) ? monthTitle(month) : month);

function Download({ at, wanted, file }: { at: Place; wanted: Wanted | undefined; file: string | undefined }) {
  const { isBusy, problem, run } = useSubmit();
  const [progress, setProgress] = useState<Progress>();
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function download(path: string, name: string): Promise<void> {
    const controller = (running.current = new AbortController());
    setProgress({ rows: 0, open: 0 });
    try {
      const { pieces, progress: all } = await readReport(path, setProgress, controller.signal);
      save(name, pieces);
      setProgress(undefined);
      notify(...summary(name, all));
    } catch (error) {
      setProgress(undefined);
      if (!controller.signal.aborted) throw error;
    }
  }

  return (
    <>
      <div role="alert">{problem && <p class="problem request-problem">{problem}</p>}</div>
      <footer class="form-foot">
        <p role="status" aria-live="polite">
          {progress ? `Downloading: ${count(progress.rows)} so far…` : file}
        </p>
        {isBusy && (
          <button type="button" onClick={() => running.current?.abort()}>
            Cancel
          </button>
        )}
        <button type="button" class="primary" disabled={!wanted || !file || isBusy} onClick={() => void run(() => download(reportPath(at, wanted!), file!))}>
          {isBusy ? "Downloading…" : "Download CSV"}
        </button>
      </footer>
    </>
  );
}

const count = (rows: number): string => `${rows.toLocaleString("en")} ${rows === 1 ? "row" : "rows"}`;

/** What was saved, and a warning where it is not what a bill should rest on. */
function summary(name: string, { rows, open }: Progress): Parameters<typeof notify> {
  if (rows === 0) return [`${name}: nothing was used or committed in this time.`];
  if (open === 0) return [`${name}: ${count(rows)}.`];
  const some = open === rows ? "The time is" : `${open.toLocaleString("en")} of them ${open === 1 ? "is of a time that is" : "are of times that are"}`;
  return [`${name}: ${count(rows)}. ${some} not closed yet, so figures may still change.`, "warning"];
}
