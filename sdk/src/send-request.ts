import { ApiError, ConnectionError } from "./errors.ts";
import { withRetries } from "./retry.ts";

export type Connection = {
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string;
  fetch: typeof fetch;
  retries: number;
  timeoutMs: number;
};

export type Query = Readonly<Record<string, string | number | Date | readonly string[] | undefined>>;

type Received = { status: number; headers: Headers; text: string };

export type Request = {
  /** GET if omitted. */
  method?: string;
  path: string;
  query?: Query;
  body?: object | undefined;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
};

/** One request, with retries: whatever it does must do no more when it is repeated. Null if the response has no content. */
export async function sendRequest<T>(connection: Connection, request: Request): Promise<T> {
  const { retries } = connection;
  const { signal } = request;
  return await withRetries(async () => parseResponse(await send(connection, request), request) as T, {
    retries,
    signal,
  });
}

function toSearch(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const each of value) search.append(name, each);
    else if (value !== undefined) search.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return search.size === 0 ? "" : `?${search}`;
}

/** One request; the time limit includes the body. The caller's abort reason is thrown unchanged. */
async function send(connection: Connection, request: Request): Promise<Received> {
  const { method = "GET", body, signal } = request;
  signal?.throwIfAborted();
  const { apiKey, timeoutMs } = connection;
  const url = `${connection.baseUrl}/api/v1${request.path}${toSearch(request.query ?? {})}`;
  const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json", ...request.headers };
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener("abort", end, { once: true });
  try {
    const response = await connection.fetch(url, {
      method,
      ...(body === undefined
        ? { headers }
        : { headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) }),
      // The service never redirects, and the key must not be sent anywhere else.
      redirect: "manual",
      signal: ending.signal,
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    const { host } = new URL(url);
    if (ending.signal.aborted)
      throw new ConnectionError("timeout", `${host} did not respond within ${timeoutMs} ms.`, { cause });
    throw new ConnectionError("unreachable", `${host} could not be reached.`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

function parseResponse(response: Received, { method = "GET" }: Request): unknown {
  if (response.status === 204 && method !== "GET") return null;
  const body = parseJson(response.text);
  if (response.status >= 200 && response.status <= 202 && typeof body === "object" && body !== null) return body;
  const error = readError(body);
  throw new ApiError({
    code: error?.code ?? "unexpected_response",
    message: error?.message ?? describe(response),
    fields: error?.fields ?? {},
    status: response.status,
    requestId: response.headers.get("x-request-id"),
    retryAfterSeconds: readRetryAfter(response.headers.get("retry-after")),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type ServiceError = { code: string; message: string; fields?: Record<string, string> };

function readError(body: unknown): ServiceError | null {
  const { error } = (body ?? {}) as { error?: { [Name in keyof ServiceError]?: unknown } };
  return typeof error?.code === "string" && typeof error.message === "string" ? (error as ServiceError) : null;
}

function describe({ status, headers }: Received): string {
  const target = headers.get("location");
  if (target !== null) return `The response was a redirect (${status}) to ${target}. Check baseUrl.`;
  return `The response (${status}) did not come from Bookflow. Check baseUrl.`;
}

/** Retry-After is a number of seconds or a date. */
function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^[0-9]+$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}
