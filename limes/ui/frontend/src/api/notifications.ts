// What the user is told, and how: the inbox, mails, an own threshold, and the webhook of a project.
import { apiPath, type Place } from "../lib/paths";
import { ApiError, get, request } from "./client";
import type {
  InboxAnswer,
  InboxSeenBody,
  MailSettings,
  MailSettingsAnswer,
  MyThreshold,
  MyThresholdAnswer,
  MyThresholdBody,
  Webhook,
  WebhookAnswer,
  WebhookBody,
} from "./schema";

export const INBOX = "/v1/inbox";
export const MAIL_SETTINGS = "/v1/mail-settings";

export function loadInbox(limit: number, marker?: number, signal?: AbortSignal): Promise<InboxAnswer> {
  return get<InboxAnswer>(INBOX, { query: { limit, marker }, signal });
}

export const seenBody = (at: number): InboxSeenBody => ({ seen_at: at });

export async function markSeen(at: number): Promise<void> {
  await request<InboxAnswer>(INBOX, { method: "PUT", body: seenBody(at) });
}

/** Undefined where Limes sends no mails to users. */
export async function loadMailSettings(signal?: AbortSignal): Promise<MailSettings | undefined> {
  return (await ifThere(get<MailSettingsAnswer>(MAIL_SETTINGS, { signal })))?.mail_settings;
}

export const thresholdPath = (at: Place): string => apiPath(at, "/my-threshold");

export const thresholdBody = (percent: number | null): MyThresholdBody => ({ my_threshold: { percent } });

export async function loadThreshold(at: Place, signal?: AbortSignal): Promise<MyThreshold> {
  return (await get<MyThresholdAnswer>(thresholdPath(at), { signal })).my_threshold;
}

export const webhookPath = (at: Place): string => apiPath(at, "/webhook");

export const webhookBody = (url: string): WebhookBody => ({ webhook: { url } });

/** Undefined where operators allow none; null where there could be one. */
export async function loadWebhook(at: Place, signal?: AbortSignal): Promise<Webhook | null | undefined> {
  return (await ifThere(get<WebhookAnswer>(webhookPath(at), { signal })))?.webhook;
}

export async function saveWebhook(at: Place, url: string): Promise<Webhook | null> {
  return (await request<WebhookAnswer>(webhookPath(at), { method: "PUT", body: webhookBody(url) })).data.webhook;
}

/** What is switched off answers 404. */
async function ifThere<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
