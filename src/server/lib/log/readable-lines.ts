import { stripVTControlCharacters } from "node:util";

/** A line of JSON, as people read it in a terminal: `14:05:09 warn  mail.not_sent link=https://…`, with the stack of an error below. */
export function toReadableLine(json: string): string {
  const { level, at, name, error, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const words = Object.entries(fields).map(([key, value]) => `${key}=${toWord(value)}`);
  const time = new Date(String(at)).toTimeString().slice(0, 8);
  const line = [time, String(level).padEnd(5), name, ...words].join(" ");
  // What a request contains must not change colours or move the cursor.
  return `${stripVTControlCharacters(line)}\n${error === undefined ? "" : describeError(error as LoggedError)}`;
}

function toWord(value: unknown): string {
  const text = String(value);
  return /[\s"]/.test(text) ? JSON.stringify(text) : text;
}

type LoggedError = { type: string; message?: string; stack?: string; cause?: LoggedError };

function describeError({ type, message, stack, cause }: LoggedError): string {
  const lines = stripVTControlCharacters(stack ?? [type, message].filter(Boolean).join(": ")).split("\n");
  const indented = lines.map((line) => `    ${line}\n`).join("");
  return cause === undefined ? indented : `${indented}    caused by:\n${describeError(cause)}`;
}
