import { open, writeFile } from "node:fs/promises";
import type { ConnectionCheckResponse, ConnectionCheckStepName } from "#contract/app/connections.ts";
import { parseConnectionId } from "#contract/ids.ts";
import { CHECK_DAYS, findConnectionOwner } from "../scheduler/scheduler.ts";
import { readGiven, requireOrganization, requireOwned } from "./arguments.ts";
import { callRoute } from "./call-route.ts";
import { type Command, UsageError } from "./command.ts";

export const CONNECTION_COMMANDS: readonly Command[] = [
  {
    name: "connection list",
    usage: "connection list --org ORG",
    summary: "list an organization's connections to scheduling systems, with their health",
    options: ["org"],
    positionals: 0,
    async run(context) {
      const { id: owner } = await requireOrganization(context.db, context.args.required("org"));
      const { data } = await callRoute(context, owner, "listConnections");
      const lines = data.map(
        ({ id, kind, isHealthy, name }) => `${id}  ${kind}  ${isHealthy ? "healthy" : "not working"}  ${name}`,
      );
      return { text: lines.join("\n") || "No connections.", json: data };
    },
  },
  {
    name: "connection check",
    usage: "connection check ID [--book] [--email EMAIL] [--save FILE]",
    summary: `read services and available times for ${CHECK_DAYS} days; --book also makes and cancels a test appointment; exits with 1 if something fails`,
    options: ["email", "save"],
    flags: ["book"],
    positionals: 1,
    async run(context) {
      const { args } = context;
      const { id, owner } = await requireOwned(context, {
        parse: parseConnectionId,
        findOwner: findConnectionOwner,
        unknown: "No connection has this ID.",
      });
      const file = args.option("save");
      if (file !== null) await requireWritable(file);
      const body = { book: args.flag("book"), ...readGiven(args, { email: String }) };
      const check = await callRoute(context, owner, "checkConnection", { params: { connection: id }, body });
      if (file !== null) await writeFile(file, `${JSON.stringify(check, null, 2)}\n`);
      return { text: toText(check), json: check, exitCode: check.isWorking ? 0 : 1 };
    },
  },
];

/** Before the check: a test appointment whose record is lost would have been made for nothing. */
async function requireWritable(file: string): Promise<void> {
  try {
    await (await open(file, "a")).close();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UsageError(`The file ${JSON.stringify(file)} can't be written (${code}).`);
  }
}

const STEP_WORDS: Readonly<Record<ConnectionCheckStepName, string>> = {
  account: "account",
  services: "services",
  free_times: "available times",
  book: "booking",
  find: "lookup",
  cancel: "cancellation",
};

function toText({ exchanges, steps, verdict }: ConnectionCheckResponse): string {
  return [
    ...exchanges.map(toExchangeText),
    ...steps.flatMap(({ name, isOk, message, notes = [] }) => [
      `${isOk ? "ok  " : "FAIL"}  ${STEP_WORDS[name]}: ${toPrintable(message)}`,
      ...notes.map((note) => `      - ${toPrintable(note)}`),
    ]),
    "",
    toPrintable(verdict),
  ].join("\n");
}

/** Names from a scheduling system could contain characters that control the terminal. */
function toPrintable(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}

function toExchangeText({
  method,
  url,
  body,
  status,
  failure,
  json,
  durationMs,
}: ConnectionCheckResponse["exchanges"][number]): string {
  const sent = body === null ? "" : `\n  sent ${toPrintable(JSON.stringify(body))}`;
  const got = status === null ? `no response: ${failure}` : `HTTP ${status} ${toPrintable(JSON.stringify(json))}`;
  return `${method} ${url}${sent}\n  ${durationMs} ms, ${got}\n`;
}
