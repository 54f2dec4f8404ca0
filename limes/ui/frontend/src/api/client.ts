// One function for all requests to the public API. The token comes from memory; a 401 ends the session.
import { readable } from "../lib/messages";
import { session, sessionEnded } from "../session/store";

/** What the API refuses, in its own words: one line for each problem. */
export class ApiError extends Error {
  readonly lines: string[];

  constructor(
    readonly status: number,
    text: string,
    /** Where the answer is JSON and not a text: what simulate-put refuses. */
    readonly document?: unknown,
  ) {
    super(readable(text.trim()) || `HTTP ${status}`);
    this.lines = this.message.split("\n");
  }
}

export interface Answer<T> {
  data: T;
  status: number;
  etag: string | null;
}

export interface Options {
  method?: "GET" | "PUT" | "POST" | "DELETE";
  query?: Record<string, string | number | readonly string[] | undefined>;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

function queryString(query: Options["query"]): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) search.append(key, String(one));
    }
  }
  const text = search.toString();
  return text && `?${text}`;
}

/** Asks the API. Rejects with `ApiError`, also where there is no answer at all (status 0). */
export async function request<T>(path: string, options: Options = {}): Promise<Answer<T>> {
  const response = await respond(path, options);
  const data = (isJson(response) ? await response.json() : await response.text()) as T;
  return { data, status: response.status, etag: response.headers.get("ETag") };
}

/** The same for an answer that is read piece by piece. */
export async function respond(path: string, options: Options = {}): Promise<Response> {
  const token = session.value?.token;
  const response = await send(path + queryString(options.query), {
    method: options.method ?? "GET",
    headers: {
      ...(token ? { "X-Auth-Token": token } : {}),
      ...(options.body === undefined ? {} : { "Content-Type": "application/json" }),
      ...options.headers,
    },
    credentials: "omit",
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  if (!response.ok) {
    if (response.status === 401 && token !== undefined && token === session.value?.token) sessionEnded();
    const text = await response.text();
    throw new ApiError(response.status, text, isJson(response) ? JSON.parse(text) : undefined);
  }
  return response;
}

function isJson(response: Response): boolean {
  return response.headers.get("Content-Type")?.startsWith("application/json") ?? false;
}

export const send = (path: string, init: RequestInit): Promise<Response> => answered(fetch(path, init));

/** Says in words that there is no answer. */
export async function answered(response: Promise<Response>): Promise<Response> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "Limes is not answering. Check your network and try again.");
  }
}

export async function get<T>(path: string, options: Options = {}): Promise<T> {
  return (await request<T>(path, options)).data;
}

export async function post<T>(path: string, body: unknown, options: Options = {}): Promise<T> {
  return (await request<T>(path, { ...options, method: "POST", body })).data;
}
