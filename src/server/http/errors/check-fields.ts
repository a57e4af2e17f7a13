import { EMAIL_PATTERN } from "#contract/limits.ts";
import { EMAIL_LENGTH_MAX, NAME_LENGTH_MAX } from "#contract/widgets/embed-api.ts";
import { parseTimeZone } from "../../lib/time/calendar.ts";
import { FieldsError } from "./api-error.ts";

// Checks what people type into forms, and operators on the command line. Each check returns the value or says what is wrong
// with it. The dashboard API reports all faults at once, by field; a command reports the first one, by option.

export type Checked<T> = { value: T } | { fault: string };

type Values<Checks> = { [K in keyof Checks]: Exclude<Checks[K], undefined> extends Checked<infer T> ? T : never };

/** Returns the values if all of them are valid; otherwise throws every fault by field. Undefined fields are left out. */
export function requireFields<Checks extends Record<string, Checked<unknown> | undefined>>(
  checks: Checks,
): Values<Checks> {
  const values: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const [name, check] of Object.entries(checks)) {
    if (check === undefined) continue;
    if ("fault" in check) faults[name] = check.fault;
    else values[name] = check.value;
  }
  if (Object.keys(faults).length > 0) throw new FieldsError(faults);
  // Each name in `checks` was just given the value of its own check.
  return values as Values<Checks>;
}

/** Shared by members and visitors, for what they enter about themselves. */
export const FIELD_FAULTS = {
  noName: "Enter a name.",
  longName: "This name is too long.",
  notAnEmail: "This is not an email address.",
} as const;

/** A text that fits on one line, without surrounding spaces. */
export function checkLine(text: string, rule: { lengthMax: number; mayBeEmpty?: true }): Checked<string> {
  const line = text.trim().toWellFormed();
  if (line === "" && !rule.mayBeEmpty) return { fault: "This must not be empty." };
  if ([...line].length > rule.lengthMax) return { fault: `Use at most ${rule.lengthMax} characters.` };
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(line)) return { fault: "Line breaks and control characters are not allowed." };
  return { value: line };
}

export function checkName(text: string): Checked<string> {
  const name = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .trim()
    .toWellFormed();
  if (name === "") return { fault: FIELD_FAULTS.noName };
  return [...name].length > NAME_LENGTH_MAX ? { fault: FIELD_FAULTS.longName } : { value: name };
}

const EMAIL = new RegExp(EMAIL_PATTERN);

export function checkEmail(text: string): Checked<string> {
  const email = text.trim().toLowerCase();
  const isAddress = email.length <= EMAIL_LENGTH_MAX && EMAIL.test(email);
  return isAddress ? { value: email } : { fault: FIELD_FAULTS.notAnEmail };
}

export function checkTimeZone(text: string): Checked<string> {
  const zone = parseTimeZone(text);
  return zone === null ? { fault: "Choose a time zone, for example Europe/Berlin." } : { value: zone };
}
