// How scrapes go in the cloud or in a domain, as several parts of a page need it.
import { loadScrapeStatus } from "../api/attention";
import { pagePath } from "../lib/paths";
import { polled } from "../lib/polled";

const status = polled(loadScrapeStatus, ({ domain }) => pagePath({ domain }));

/** The state of a cloud or a domain. Without a place nothing is asked for. */
export const useScrapeStatus = status.use;

/** Asks again at once: after a page was reloaded. */
export const refreshStatus = status.refresh;

/** Why there is no such state, where asking for it has failed. */
export const statusError = status.errorOf;
