import { createReadStream } from "node:fs";
import { type TextLine, toTextLines } from "../lib/text/text-lines.ts";
import { UsageError } from "./command.ts";

/** About a thousand lines. */
const READ_BYTES = 128 * 1024;

export async function* readLines(path: string): AsyncGenerator<readonly TextLine[]> {
  try {
    yield* toTextLines(createReadStream(path, { highWaterMark: READ_BYTES }));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    throw new UsageError(`The file ${JSON.stringify(path)} can't be read (${code}).`);
  }
}

export function nothingImported({ line, fault }: { line: number; fault: string }): UsageError {
  return new UsageError(`Line ${line}: ${fault}. Nothing was imported.`);
}

/** Counting this many visits takes a few seconds. */
export const PROGRESS_VISITS = 20_000;
/** Importing this many lines takes a few seconds. */
export const PROGRESS_LINES = 10_000;

/** Counts grow in steps and may skip a round number, so the first count at or after it is reported. */
export function reportEvery(step: number, tell: (count: number) => void): (count: number) => void {
  let next = step;
  return (count) => {
    if (count < next) return;
    tell(count);
    next = count - (count % step) + step;
  };
}
