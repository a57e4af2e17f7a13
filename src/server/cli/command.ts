import type { Config } from "../config.ts";
import type { ServiceDeps } from "../create-deps.ts";
import type { Arguments } from "./arguments.ts";

/** A command's output: lines for a person, or one JSON value with --json. */
export type Output = { text: string; json: unknown; exitCode?: number };

export type CommandContext = ServiceDeps & {
  readonly config: Config;
  readonly args: Arguments;
  /** Names of the migrations that opening the database applied. */
  readonly applied: readonly string[];
  /** For progress; goes to standard error. */
  readonly tell: (line: string) => void;
  /** The first line of standard input. */
  readonly readInput: () => Promise<string>;
};

export type Command = {
  /** As it is typed after `npm run -s bookflow --`. */
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly string[];
  /** Options without a value. */
  readonly flags?: readonly string[];
  readonly positionals: number;
  readonly run: (context: CommandContext) => Promise<Output>;
};

/** Bad input on the command line: one clear line on standard error, and exit code 2. */
export class UsageError extends Error {}

export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
