import { createReadStream } from "node:fs";
import { type TextLine, toTextLines } from "../lib/text/text-lines.ts";
import { UsageError } from "./usage-error.ts";

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
