// Keeps secrets and personal data out of recorded requests and responses. What remains decides how an adapter behaves: ids,
// times, statuses, names of services and types of questions.

const MASKED = "***";
const MASKED_LINK = "https://masked.example/";

/** Tokens, and links that carry one. */
const SECRET_KEYS = /^(access_token|refresh_token|client_secret|authorization)$/i;
const LINK_KEYS = /^(joinWebUrl|anonymousJoinWebUrl|meetingUrl|join_url|cancel_url|reschedule_url)$/;
const PERSON_KEYS =
  /^(email|emailAddress|user_email|phone|phoneNumber|text_reminder_number|customer(Name|EmailAddress|Phone|Notes)|first_name|last_name)$/;
/** Whole objects about customers. */
const CUSTOMER_KEYS =
  /^(customers|attendees|guests|invitee|bookingFieldsResponses|questions_and_answers|event_guests)$/;

/** `ownEmail` is the address of the test booking, whose data may be shown. */
export type Masking = { readonly secrets: readonly string[]; readonly ownEmail: string };

export function maskJson(json: unknown, masking: Masking): unknown {
  return mask(json, "", masking);
}

export function maskText(text: string, { secrets }: Masking): string {
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, MASKED), text);
}

function mask(value: unknown, key: string, masking: Masking): unknown {
  if (SECRET_KEYS.test(key)) return MASKED;
  if (LINK_KEYS.test(key) && typeof value === "string") return MASKED_LINK;
  if (CUSTOMER_KEYS.test(key) && !JSON.stringify(value)?.includes(masking.ownEmail)) return maskLeaves(value);
  if (typeof value === "string") {
    return PERSON_KEYS.test(key) && value !== masking.ownEmail ? MASKED : maskText(value, masking);
  }
  if (Array.isArray(value)) return value.map((item) => mask(item, key, masking));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mask(member, name, masking)]));
}

function maskLeaves(value: unknown): unknown {
  if (typeof value === "string") return MASKED;
  if (Array.isArray(value)) return value.map(maskLeaves);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskLeaves(member)]));
}
