import { LoggableError } from "./loggable-error.ts";

// What the log says of an error. Most messages may quote what a visitor entered: PostgreSQL quotes values of rows, parsers quote
// the text, and Node quotes addresses. So only what can't hold such a value is kept: types, codes, names of our own objects in
// the database, the servers that we connect to, and the places in the code.

export type ErrorDescription = {
  type: string;
  code?: string | undefined;
  message?: string | undefined;
  /** Of PostgreSQL. */
  table?: string | undefined;
  column?: string | undefined;
  constraint?: string | undefined;
  routine?: string | undefined;
  syscall?: string | undefined;
  /** The server that couldn't be reached. */
  server?: string | undefined;
  /** Only the frames. The line before them is the message. */
  stack?: string | undefined;
  cause?: ErrorDescription | undefined;
};

/** What Node, pg and other libraries add to errors. Anything may be in there. */
type ErrorFacts = {
  [name in
    | "code"
    | "table"
    | "column"
    | "constraint"
    | "routine"
    | "syscall"
    | "hostname"
    | "address"
    | "port"]?: unknown;
};

/** A chain of causes can be circular. */
const CAUSES_MAX = 5;

/** Fixed messages of errors that have no code. Each is logged only if it is the whole message. */
const KNOWN_MESSAGES: ReadonlySet<string> = new Set([
  // pg and pg-pool
  "Connection terminated",
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "timeout expired",
  "timeout exceeded when trying to connect",
  "The server does not support SSL connections",
]);

export function describeError(error: unknown, causesLeft = CAUSES_MAX): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error };
  const facts = error as Error & ErrorFacts;
  const cause = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
  return {
    type: toWord(/^error$/i.test(error.name) ? error.constructor.name : error.name) ?? "Error",
    code: toWord(facts.code),
    message: isLoggable(error) ? error.message : undefined,
    table: toWord(facts.table),
    column: toWord(facts.column),
    constraint: toWord(facts.constraint),
    routine: toWord(facts.routine),
    syscall: toWord(facts.syscall),
    server: describeServer(facts),
    stack: toFrames(error),
    cause: cause === undefined || causesLeft === 0 ? undefined : describeError(cause, causesLeft - 1),
  };
}

function isLoggable(error: Error): boolean {
  return error instanceof LoggableError || KNOWN_MESSAGES.has(error.message);
}

/** Visitors connect to us, and we never connect to them. */
function describeServer({ syscall, hostname, address, port }: ErrorFacts): string | undefined {
  if (syscall !== "connect" && syscall !== "getaddrinfo") return undefined;
  const host = hostname ?? address;
  if (typeof host !== "string" || !/^[\w.:-]+$/.test(host)) return undefined;
  return typeof port === "number" ? `${host}:${port}` : host;
}

/** Codes and names are one word. Anything else is left out. */
function toWord(value: unknown): string | undefined {
  return typeof value === "string" && /^\w{1,100}$/.test(value) ? value : undefined;
}

/**
 * A stack is the message and then the frames. If a message has several lines, one of them could look like a frame, so nothing is
 * kept unless it is known where the message ends.
 */
function toFrames({ message, stack = "" }: Error): string | undefined {
  const start = message === "" || !stack.includes(message) ? 0 : stack.indexOf(message) + message.length;
  const rest = stack.slice(start);
  const isHeadless = start > 0 || /^[\w.]+(?: \[\w+\])?\n/.test(rest);
  if (!isHeadless) return undefined;
  const frames = rest
    .split("\n")
    .slice(1)
    .filter((line) => FRAME.test(line));
  return frames.length === 0 ? undefined : frames.map((line) => line.trim()).join("\n");
}

/** `at sweep (file:///srv/src/server/worker.ts:71:5)`, and what Node writes for places that are not in a file. */
const FRAME =
  /^ {4}at (?:(?:async )?(?:node:|file:\/\/|\/|[A-Z]:\\)\S*|<anonymous>|[^(]+ \((?:node:|file:\/\/|\/|[A-Z]:\\|<anonymous>|index ).*\))$/;
