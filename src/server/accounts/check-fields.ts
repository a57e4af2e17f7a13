import { type MemberRole, ROLES_OF_MEMBERS } from "#contract/app/role.ts";
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from "#contract/limits.ts";
import type { Checked } from "../http/errors/check-fields.ts";

export const PASSWORD_FAULTS = {
  tooShort: `Use at least ${PASSWORD_LENGTH_MIN} characters.`,
  tooLong: `Use at most ${PASSWORD_LENGTH_MAX} characters.`,
} as const;

export function checkPassword(password: string): Checked<string> {
  if (password.length < PASSWORD_LENGTH_MIN) return { fault: PASSWORD_FAULTS.tooShort };
  if (password.length > PASSWORD_LENGTH_MAX) return { fault: PASSWORD_FAULTS.tooLong };
  return { value: password };
}

export function checkRole(text: string): Checked<MemberRole> {
  const role = ROLES_OF_MEMBERS.find((candidate) => candidate === text);
  return role ? { value: role } : { fault: `Choose one of ${ROLES_OF_MEMBERS.join(", ")}.` };
}
