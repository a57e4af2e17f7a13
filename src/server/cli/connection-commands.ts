import { open, writeFile } from "node:fs/promises";
import type { ConnectionCheckStepName } from "#contract/app/connections.ts";
import { parseConnectionId } from "#contract/ids.ts";
import { checkEmail } from "../http/check-fields.ts";
import {
  CHECK_DAYS,
  type ConnectionCheck,
  checkConnection,
  countWidgetsByConnection,
  type Exchange,
  findConnectionOwner,
  listConnections,
  toAppConnection,
} from "../scheduler/scheduler.ts";
import { requireOrganization } from "./arguments.ts";
import { type Command, UsageError } from "./command.ts";

const NO_CONNECTION = "No connection has this ID.";

export const CONNECTION_COMMANDS: readonly Command[] = [
  {
    name: "connection list",
    usage: "connection list --org ORG",
    summary: "list an organization's connections to scheduling systems, with their health",
    options: ["org"],
    positionals: 0,
    async run({ db, args }) {
      const { id: owner } = await requireOrganization(db, args.required("org"));
      const counts = await countWidgetsByConnection(db, owner);
      const rows = await listConnections(db, owner);
      const connections = rows.map((row) => toAppConnection(row, counts.get(row.id) ?? 0));
      const lines = connections.map(
        ({ id, kind, isHealthy, name }) => `${id}  ${kind}  ${isHealthy ? "healthy" : "not working"}  ${name}`,
      );
      return { text: lines.join("\n") || "No connections.", json: connections };
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
      const { args, db } = context;
      const id = parseConnectionId(args.positional[0] ?? "");
      const owner = id && (await findConnectionOwner(db, id));
      if (!id || !owner) throw new UsageError(NO_CONNECTION);
      const email = args.option("email");
      if (email !== null && "fault" in checkEmail(email)) throw new UsageError(`"${email}" is not an email address.`);
      const file = args.option("save");
      if (file !== null) await requireWritable(file);
      const wanted = { id, withBooking: args.flag("book"), email };
      const check = await checkConnection(context, owner, wanted);
      if (check.kind === "not_found") throw new UsageError(NO_CONNECTION);
      if (check.kind === "closed")
        throw new UsageError(
          "The credentials can't be read. Was SECRET_KEY changed? Enter them again in the dashboard.",
        );
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

function toText({ exchanges, steps, verdict }: ConnectionCheck): string {
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

function toExchangeText({ method, url, body, status, failure, json, durationMs }: Exchange): string {
  const sent = body === null ? "" : `\n  sent ${toPrintable(JSON.stringify(body))}`;
  const got = status === null ? `no response: ${failure}` : `HTTP ${status} ${toPrintable(JSON.stringify(json))}`;
  return `${method} ${url}${sent}\n  ${durationMs} ms, ${got}\n`;
}
