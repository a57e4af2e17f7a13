// For demos and tests: the local part of the customer's email address makes the sandbox fail in a certain way. Everything
// after a plus sign is ignored, so `fail-slot+anna@example.com` works too.
//
// | local part           | appointment made | outcome                            |
// |----------------------|------------------|------------------------------------|
// | fail-slot            | no               | slot_taken                         |
// | fail-500             | no               | unavailable                        |
// | fail-429             | no               | unavailable, with a wait           |
// | fail-timeout-created | yes              | unknown                            |
// | fail-timeout-lost    | no               | unknown                            |
// | slow-3s              | yes              | booked, three seconds later        |

const FAILURE_SWITCHES = [
  "fail-slot",
  "fail-500",
  "fail-429",
  "fail-timeout-created",
  "fail-timeout-lost",
  "slow-3s",
] as const;
export type FailureSwitch = (typeof FAILURE_SWITCHES)[number];

export function toFailureSwitch(email: string): FailureSwitch | null {
  const localPart = email.trim().toLowerCase().split("@", 1)[0]?.split("+", 1)[0];
  return FAILURE_SWITCHES.find((name) => name === localPart) ?? null;
}
