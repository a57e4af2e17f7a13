import { ORGANIZATION_HEADER } from "#contract/app/routes.ts";
import { reportSessionEnd } from "./session-end.ts";

/** Whatever kept a request from doing what it was for, in words for the person who made it. */
export class ApiFailure extends Error {
  /** A code of contract/api-error.ts; `unreachable` where there was no answer. */
  readonly code: string;
  /** 0 where there was no answer. */
  readonly status: number;
  /** What is wrong with which field of a form. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(about: { code: string; message: string; status: number; fields?: Readonly<Record<string, string>> }) {
    super(about.message);
    this.code = about.code;
    this.status = about.status;
    this.fields = about.fields ?? {};
  }
}

/** In words for the person who sees it. */
export function explain(error: Error): string {
  return error instanceof ApiFailure ? error.message : "Something went wrong on this page.";
}

export function isNotFound(error: Error | null): boolean {
  return error instanceof ApiFailure && error.status === 404;
}

type ApiRequest = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** From the root: /api/app/… or /api/auth/…. */
  readonly path: string;
  readonly organization?: string | undefined;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: unknown;
  /** Of what makes something: sent again under the same key, it makes nothing more. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Asked before signing in: a 401 is an answer like others, and no sign that a session has ended. */
  readonly isEntry?: boolean;
};

/** Sends a request and gives back its JSON answer, which the caller names by its type in the contract. */
export async function send<Answer>(request: ApiRequest): Promise<Answer> {
  const response = await reach(request);
  const answer = await readJson(response, request);
  if (response.ok) return answer as Answer;
  const failure = toFailure(response.status, answer);
  if (failure.status === 401 && !request.isEntry) reportSessionEnd();
  throw failure;
}

export function toAddress(path: string, query: ApiRequest["query"] = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
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
    // Not from us: a proxy in between has a page of its own for when we do not answer.
    return null;
  }
}

function toFailure(status: number, answer: unknown): ApiFailure {
  const { error } = (answer ?? {}) as {
    error?: { code: string; message: string; fields?: Record<string, string> };
  };
  return error ? new ApiFailure({ ...error, status }) : new ApiFailure({ code: "internal", status, message: BROKEN });
}

function unreachable({ method, idempotencyKey }: ApiRequest): ApiFailure {
  const message = method === "GET" ? UNREACHABLE : idempotencyKey === undefined ? UNCERTAIN : REPEATABLE;
  return new ApiFailure({ code: "unreachable", status: 0, message });
}

const UNREACHABLE = "Bookflow cannot be reached. Check your connection, then try again.";
const UNCERTAIN =
  "Bookflow cannot be reached. Should the connection have broken during the answer, this is done already: look before you try again.";
const REPEATABLE = "Bookflow cannot be reached. Check your connection, then try again here: nothing is made twice.";
const BROKEN = "Bookflow did not answer as it should. Please try again in a moment.";
