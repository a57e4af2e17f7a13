import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from "#contract/app/limits.ts";
import { type MemberRole, ROLES_OF_MEMBERS } from "#contract/app/role.ts";
import { EMAIL_LENGTH_MAX, NAME_LENGTH_MAX } from "#contract/book.ts";
import { FieldsError } from "../http/api-error.ts";
import { FIELD_FAULTS } from "../http/field-faults.ts";
import { parseTimeZone } from "../lib/calendar.ts";

// What people type into forms about themselves and their organizations.

export type Checked<T> = { value: T } | { fault: string };

type Values<Checks> = { [K in keyof Checks]: Checks[K] extends Checked<infer T> ? T : never };

/** The values, where all of them are right; otherwise throws everything that is wrong, field by field. */
export function requireFields<Checks extends Record<string, Checked<unknown>>>(checks: Checks): Values<Checks> {
  const values: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const [name, check] of Object.entries(checks)) {
    if ("fault" in check) faults[name] = check.fault;
    else values[name] = check.value;
  }
  if (Object.keys(faults).length > 0) throw new FieldsError(faults);
  // Each name of `checks` was just given the value of its own check.
  return values as Values<Checks>;
}

export function checkName(text: string): Checked<string> {
  const name = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .trim()
    .toWellFormed();
  if (name === "") return { fault: FIELD_FAULTS.noName };
  return [...name].length > NAME_LENGTH_MAX ? { fault: FIELD_FAULTS.longName } : { value: name };
}

/** No wider than what better-auth accepts at sign-in: a new account must be able to sign in again. */
const EMAIL = /^[A-Za-z0-9_+-]+(['.][A-Za-z0-9_+-]+)*@([A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;

export function checkEmail(text: string): Checked<string> {
  const email = text.trim().toLowerCase();
  const isAddress = email.length <= EMAIL_LENGTH_MAX && EMAIL.test(email);
  return isAddress ? { value: email } : { fault: FIELD_FAULTS.notAnEmail };
}

export const PASSWORD_FAULTS = {
  tooShort: `Please use at least ${PASSWORD_LENGTH_MIN} characters.`,
  tooLong: `Please use at most ${PASSWORD_LENGTH_MAX} characters.`,
} as const;

export function checkPassword(password: string): Checked<string> {
  if (password.length < PASSWORD_LENGTH_MIN) return { fault: PASSWORD_FAULTS.tooShort };
  if (password.length > PASSWORD_LENGTH_MAX) return { fault: PASSWORD_FAULTS.tooLong };
  return { value: password };
}

export function checkRole(text: string): Checked<MemberRole> {
  const role = ROLES_OF_MEMBERS.find((candidate) => candidate === text);
  return role ? { value: role } : { fault: `Please choose one of ${ROLES_OF_MEMBERS.join(", ")}.` };
}

export function checkTimeZone(text: string): Checked<string> {
  const zone = parseTimeZone(text);
  return zone === null ? { fault: "Please choose a time zone, for example Europe/Berlin." } : { value: zone };
}
