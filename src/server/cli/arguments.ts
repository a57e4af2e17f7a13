import { parseArgs } from "node:util";
import { type OrganizationId, parseOrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import { type Checked, checkLine } from "../http/errors/check-fields.ts";
import { parseIsoInstant } from "../lib/time/iso-instant.ts";
import { findOrganization, type OrganizationRow } from "../organizations/organizations.ts";
import { UsageError } from "./command.ts";

/** Parses what follows the command's name. Options take a value, flags don't; an unknown name is a UsageError. */
export type Arguments = {
  positional: readonly string[];
  option(name: string): string | null;
  required(name: string): string;
  flag(name: string): boolean;
};

export function parseArguments(
  args: string[],
  command: { usage: string; options: readonly string[]; flags?: readonly string[]; positionals: number },
): Arguments {
  const flags = args.filter((word) => command.flags?.includes(word.replace(/^--/, "")) && word.startsWith("--"));
  const { values, positionals } = parse(
    args.filter((word) => !flags.includes(word)),
    command,
  );
  for (const [name, given] of Object.entries(values)) {
    if (given && given.length > 1) throw new UsageError(`--${name} was given more than once. Usage: ${command.usage}`);
  }
  if (positionals.length !== command.positionals) throw new UsageError(`Usage: ${command.usage}`);
  const option = (name: string) => values[name]?.[0] ?? null;
  return {
    positional: positionals,
    option,
    flag: (name) => flags.includes(`--${name}`),
    required(name) {
      const value = option(name);
      if (value === null) throw new UsageError(`--${name} is missing. Usage: ${command.usage}`);
      return value;
    },
  };
}

function parse(args: string[], command: { usage: string; options: readonly string[] }) {
  const options = Object.fromEntries(
    command.options.map((name) => [name, { type: "string" as const, multiple: true as const }]),
  );
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    // The first sentence of Node's message is the fault. The rest is advice that doesn't apply here.
    const [fault = ""] = (error as Error).message.split(/\. |\.?\n/);
    throw new UsageError(`${fault}. Usage: ${command.usage}`);
  }
}

/** Fields of routes whose options have other names. */
const OPTION_BY_FIELD: Readonly<Record<string, string>> = {
  accentColor: "accent",
  connectionId: "connection",
  eventTypes: "events",
  reportsExpiry: "expiry",
  requestsPerMinute: "rate",
  widgetIds: "widgets",
};

export function toOption(field: string): string {
  return OPTION_BY_FIELD[field] ?? field.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
}

/** The fields of a route whose options were given, each read by its function. */
export function readGiven(
  args: Arguments,
  fields: Readonly<Record<string, (text: string, option: string) => unknown>>,
): object {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([field, read]) => {
      const option = toOption(field);
      const text = args.option(option);
      return text === null ? [] : [[field, read(text, option)]];
    }),
  );
}

/** An option's value; throws its fault as a UsageError. */
export function requireValue<T>(name: string, checked: Checked<T>): T {
  if ("fault" in checked) throw new UsageError(`--${name}: ${checked.fault}`);
  return checked.value;
}

/** A name that fits on one line, with the same maximum length as in the dashboard. */
export function parseText(name: string, text: string, lengthMax: number): string {
  return requireValue(name, checkLine(text, { lengthMax }));
}

export function parseChoice<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw new UsageError(`--${name} must be one of ${choices.join(", ")}.`);
  return choice;
}

export const choiceOf = (choices: readonly string[]) => (text: string, option: string) =>
  parseChoice(option, text, choices);

export function toSwitch(text: string, option: string): boolean {
  return parseChoice(option, text, ["on", "off"]) === "on";
}

export const listOf = (choices: readonly string[]) => (text: string, option: string) =>
  toList(text).map((part) => parseChoice(option, part, choices));

export function toList(text: string): string[] {
  return text.split(",").map((part) => part.trim());
}

export function parseNumber(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const number = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  return number >= min && number <= max ? number : refuse(name, `a whole number from ${min} to ${max}`);
}

export function parseInstant(name: string, text: string, rounding: "down" | "up"): Date {
  return parseIsoInstant(text, rounding) ?? refuse(name, "an ISO 8601 date");
}

export function refuse(name: string, wanted: string): never {
  throw new UsageError(`--${name} must be ${wanted}.`);
}

/** What the command's argument names, and its owner. The text is not repeated: a secret could have been pasted by mistake. */
export async function requireOwned<Id extends string>(
  { args, db }: { args: Arguments; db: Db },
  {
    parse,
    findOwner,
    unknown,
  }: {
    parse: (text: string) => Id | null;
    findOwner: (db: Db, id: Id) => Promise<OrganizationId | null>;
    unknown: string;
  },
): Promise<{ id: Id; owner: OrganizationId }> {
  const id = parse(args.positional[0] ?? "");
  const owner = id && (await findOwner(db, id));
  if (!id || !owner) throw new UsageError(unknown);
  return { id, owner };
}

export async function requireOrganization(db: Db, text: string): Promise<OrganizationRow & { id: OrganizationId }> {
  const id = parseOrganizationId(text);
  const organization = id && (await findOrganization(db, id));
  if (!organization)
    throw new UsageError(`No organization has the ID ${JSON.stringify(text)}. Run "org list" to see all of them.`);
  return organization;
}
