// What a cloud admin has to look after.
import { get } from "./client";
import type { Inconsistencies, InconsistenciesAnswer, ScrapeError, ScrapeErrorsAnswer } from "./schema";

export async function loadInconsistencies(signal?: AbortSignal): Promise<Inconsistencies> {
  return (await get<InconsistenciesAnswer>("/v1/inconsistencies", { signal })).inconsistencies;
}

export async function loadScrapeErrors(signal?: AbortSignal): Promise<ScrapeError[]> {
  return (await get<ScrapeErrorsAnswer>("/v1/admin/scrape-errors", { signal })).scrape_errors;
}
