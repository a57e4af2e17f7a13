import type { FieldsErrorBody } from "#contract/api-error.ts";
import { ORGANIZATION_HEADER } from "#contract/app/routes.ts";
import { reportSessionEnd } from "./session-end.ts";

/** A failed request, with a message for the person who made it. */
export class ApiFailure extends Error {
  /** A code of contract/api-error.ts, or `unreachable` without a response. */
  readonly code: string;
  /** 0 without a response. */
  readonly status: number;
  /** Messages by form field. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(failure: { code: string; message: string; status: number; fields?: Readonly<Record<string, string>> }) {
    super(failure.message);
    this.code = failure.code;
    this.status = failure.status;
    this.fields = failure.fields ?? {};
  }
}

export function explain(error: Error): string {
  return error instanceof ApiFailure ? error.message : "Something went wrong. Reload the page and try again.";
}

export function isNotFound(error: Error | null): boolean {
  return error instanceof ApiFailure && error.status === 404;
}

type ApiRequest = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** From the root: /api/app/… or /api/auth/…. */
  readonly path: string;
  readonly organization?: string | undefined;
  readonly query?: Query | undefined;
  readonly body?: unknown;
  /** For requests that create something: a repeat with the same key creates nothing more. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Used before signing in: a 401 is then an ordinary response, not the end of a session. */
  readonly isEntry?: boolean;
};

/** Sends a request and returns its JSON response, typed by the caller. */
export async function send<Body>(request: ApiRequest): Promise<Body> {
  const response = await reach(request);
  const body = await readJson(response, request);
  if (response.ok) return body as Body;
  const failure = toFailure(response.status, body);
  if (failure.status === 401 && !request.isEntry) reportSessionEnd();
  throw failure;
}

/** Empty values are left out; several values repeat the name. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

export function toAddress(path: string, query: ApiRequest["query"] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((each) => (each === "" ? [] : [[name, each]])),
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

async function reach(request: ApiRequest): Promise<Response> {
  const { method, path, organization, query, body, idempotencyKey, signal } = request;
  const headers = new Headers({ accept: "application/json" });
  if (organization !== undefined) headers.set(ORGANIZATION_HEADER, organization);
  if (body !== undefined) headers.set("content-type", "application/json");
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  try {
    return await fetch(toAddress(path, query), {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable(request);
  }
}

async function readJson(response: Response, request: ApiRequest): Promise<unknown> {
  const text = await response.text().catch(() => {
    throw unreachable(request);
  });
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    // Not our response: a proxy shows its own page when the server is down.
    return null;
  }
}

function toFailure(status: number, body: unknown): ApiFailure {
  const { error } = (body ?? {}) as Partial<FieldsErrorBody>;
  return error ? new ApiFailure({ ...error, status }) : new ApiFailure({ code: "internal", status, message: BROKEN });
}

function unreachable({ method, idempotencyKey }: ApiRequest): ApiFailure {
  const message = method === "GET" ? UNREACHABLE : idempotencyKey === undefined ? UNCERTAIN : REPEATABLE;
  return new ApiFailure({ code: "unreachable", status: 0, message });
}

const UNREACHABLE = "Can’t reach Bookflow. Check your connection and try again.";
const UNCERTAIN = "Can’t reach Bookflow. Your request may have arrived. Check before trying again.";
const REPEATABLE = "Can’t reach Bookflow. Check your connection and try again. Nothing will be created twice.";
const BROKEN = "Bookflow isn’t responding properly. Try again in a moment.";
