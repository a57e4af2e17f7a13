import { stripVTControlCharacters } from "node:util";
import { pino } from "pino";
import type { DeliveryId, EndpointId, OrganizationId, WidgetId } from "#contract/ids.ts";
import type { AttemptErrorCode } from "#contract/webhooks/delivery.ts";
import { describeError, type ErrorDescription } from "./describe-error.ts";

// Structured logs: one JSON line per finished unit of work. The fields are an allow-list, so that a name, an email
// address, a key or an IP address cannot be logged without first being added here, in sight of a reviewer.

export type StopReason = "SIGINT" | "SIGTERM" | "SIGHUP" | "parent ended";

type LogFields = {
  requestId?: string;
  method?: string;
  /** The route's pattern, never the requested address, which may contain personal data. */
  route?: string;
  status?: number;
  durationMs?: number;
  organizationId?: OrganizationId;
  widgetId?: WidgetId;
  deliveryId?: DeliveryId;
  endpointId?: EndpointId;
  attemptNumber?: number;
  outcome?: string;
  errorCode?: AttemptErrorCode;
  nextAttemptAt?: string;
  task?: string;
  count?: number;
  role?: "all" | "web" | "worker";
  version?: string;
  migration?: string;
  signal?: StopReason;
  /** What an email is about. */
  mail?: "reset" | "sign-up" | "invitation" | "endpoint notice" | "report";
  timeZone?: string;
  /** Addresses of servers of the database. */
  servers?: string;
  /** A one-time link that would have been emailed if there were a mail server. */
  link?: string;
  /** Only what describe-error.ts lets through is written. */
  error?: unknown;
};

export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export const LOG_FORMATS = ["auto", "json", "text"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export type Log = Record<"debug" | "info" | "warn" | "error", (name: string, fields?: LogFields) => void>;

type LogDestination = { write(line: string): void };

let waitingLines = "";

/** The lines of one turn of the event loop are written together: writing a line takes longer than making it. */
const standardOutput: LogDestination = {
  write(line) {
    if (waitingLines === "") setImmediate(writeWaiting);
    waitingLines += line;
  },
};
process.on("exit", writeWaiting);

/** Where the service's log goes: JSON for programs, and lines for people where one is watching. */
export function toStandardOutput(format: LogFormat, isTerminal: boolean): LogDestination {
  const isText = format === "text" || (format === "auto" && isTerminal);
  return isText ? { write: (line) => standardOutput.write(toReadableLine(line)) } : standardOutput;
}

function writeWaiting(): void {
  const lines = waitingLines;
  waitingLines = "";
  if (lines !== "") process.stdout.write(lines);
}

export function createLog(level: LogLevel, destination: LogDestination = standardOutput): Log {
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "name",
      timestamp: () => `,"at":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const write =
    (method: "debug" | "info" | "warn" | "error") =>
    (name: string, { error, ...fields }: LogFields = {}): void => {
      logger[method](error === undefined ? fields : { ...fields, error: describeError(error) }, name);
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

/** A line of JSON, as people read it in a terminal: `14:05:09 warn  mail.not_sent link=https://…`, with an error and its frames below. */
export function toReadableLine(json: string): string {
  const { level, at, name, error, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const words = Object.entries(fields).map(([key, value]) => `${key}=${toWord(value)}`);
  const time = new Date(String(at)).toTimeString().slice(0, 8);
  const line = [time, String(level).padEnd(5), name, ...words].join(" ");
  // What a request contains must not change colours or move the cursor.
  return `${stripVTControlCharacters(line)}\n${error === undefined ? "" : toErrorLines(error as ErrorDescription)}`;
}

function toWord(value: unknown): string {
  const text = String(value);
  return /[\s"]/.test(text) ? JSON.stringify(text) : text;
}

function toErrorLines({ type, code, message, stack, cause, ...facts }: ErrorDescription): string {
  const words = Object.entries(facts).map(([key, value]) => `${key}=${toWord(value)}`);
  const title = [code === undefined ? type : `${type} [${code}]`, message]
    .filter((part) => part !== undefined)
    .join(": ");
  const frames = stack === undefined ? [] : stack.split("\n").map((frame) => `    ${frame}`);
  const lines = [[title, ...words].join(" "), ...frames];
  const indented = lines.map((line) => `    ${stripVTControlCharacters(line)}\n`).join("");
  return cause === undefined ? indented : `${indented}    caused by:\n${toErrorLines(cause)}`;
}
