// What the user is told, as commands.
import { MAIL_SETTINGS, thresholdBody, thresholdPath, webhookBody, webhookPath } from "../api/notifications";
import type { MailSettingsBody } from "../api/schema";
import type { Place } from "../lib/paths";
import type { Change } from "./change";

const of = (what: string, verb: string, at: Place): string[] => [what, verb, at.project ?? "", "--domain", at.domain ?? ""];

export function settingThreshold(at: Place, percent: number | null): Change {
  return {
    client: [of("threshold", "set", at), percent === null ? ["--clear"] : ["--percent", `${percent}`]],
    request: { method: "PUT", path: thresholdPath(at), body: thresholdBody(percent) },
  };
}

export function settingWebhook(at: Place, url: string): Change {
  return { client: [of("webhook", "set", at), ["--url", url]], request: { method: "PUT", path: webhookPath(at), body: webhookBody(url) } };
}

export function removingWebhook(at: Place): Change {
  return { client: [of("webhook", "delete", at)], request: { method: "DELETE", path: webhookPath(at) } };
}

/** One kind of mail, or all of them. */
export function wantingMails(kind: string | undefined, isSent: boolean): Change {
  const body: MailSettingsBody = { mail_settings: kind === undefined ? { sent: isSent } : { kinds: [{ kind, sent: isSent }] } };
  return {
    client: [["mail", isSent ? "subscribe" : "unsubscribe", kind ?? "--all"]],
    request: { method: "PUT", path: MAIL_SETTINGS, body },
  };
}
