// What was used and committed over time, as one CSV file.
import { apiPath, type Place } from "../lib/paths";
import type { Wanted } from "../usageReport/choice";
import { nextPage, type Progress, ReportFile } from "../usageReport/pages";
import { ApiError, get, respond } from "./client";
import type { UsageEntry, UsageReportAnswer } from "./schema";

const pathOf = (at: Place): string => (at.domain ? apiPath(at, "/usage-reports") : "/v1/usage-reports");

/** Maximum number of projects. The report of a project is one page, and takes no limit. */
const atMost = (at: Place, limit: number): { limit?: number } => (at.project ? {} : { limit });

/** With the query, as the API is asked. */
export function reportPath(at: Place, wanted: Wanted): string {
  const query = Object.entries(wanted).filter((one): one is [string, string] => one[1] !== undefined);
  return `${pathOf(at)}?${new URLSearchParams(query).toString()}`;
}

/** Whether there is an account of a month, which the API refuses where metering began later. */
export async function hasMonth(at: Place, month: string, signal?: AbortSignal): Promise<boolean> {
  const query = { from: `${month}-01`, granularity: "month", service: "", ...atMost(at, 1) }; // of no service: no entries
  try {
    await get<UsageReportAnswer>(pathOf(at), { query, signal });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return false;
    throw error;
  }
}

/** The entries of the first of these projects. */
export async function loadPreview(at: Place, wanted: Wanted, limit: number, signal?: AbortSignal): Promise<UsageEntry[]> {
  return (await get<UsageReportAnswer>(pathOf(at), { query: { ...wanted, ...atMost(at, limit) }, signal })).usage_report.entries;
}

/** Reads all pages of a report. Rejects, with nothing kept, where one of them is refused or breaks off. */
export async function readReport(path: string, tell: (progress: Progress) => void, signal: AbortSignal): Promise<ReportFile> {
  const file = new ReportFile();
  for (let next: string | undefined = path; next !== undefined; ) {
    const response: Response = await respond(next, { headers: { Accept: "text/csv" }, signal });
    file.beginPage();
    await readPage(response, file, tell, signal);
    next = nextPage(response.headers.get("Link"));
  }
  return file;
}

async function readPage(response: Response, file: ReportFile, tell: (progress: Progress) => void, signal: AbortSignal): Promise<void> {
  const decoder = new TextDecoder();
  try {
    const reader = response.body!.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      file.add(decoder.decode(part.value, { stream: true }));
      tell({ ...file.progress });
    }
    file.add(decoder.decode());
    file.endPage();
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError(0, "The answer broke off before its end, so nothing was saved. Try again.");
  }
}
