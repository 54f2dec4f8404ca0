// How many decisions the user has not seen, for the bell on every page.
import { loadInbox } from "../api/notifications";
import { polled } from "../lib/polled";

const inbox = polled(async () => (await loadInbox(1)).inbox.unread, () => "inbox");

export const useUnread = (): number => inbox.use({}) ?? 0;

/** After something was seen. */
export const recountUnread = (): void => inbox.refresh({});
