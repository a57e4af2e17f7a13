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

/** Masks the connection's own secrets everywhere, and personal data by field name. */
export class Mask {
  readonly #ownEmail: string;
  #secrets: string[] = [];

  /** `ownEmail` is the address of the test booking, whose data may be shown. */
  constructor({ secrets, ownEmail }: { secrets: readonly string[]; ownEmail: string }) {
    this.#ownEmail = ownEmail;
    for (const secret of secrets) this.add(secret);
  }

  /** Also masks the secret as part of an address or of a header. The longest form is replaced first. */
  add(secret: string): void {
    const bytes = Buffer.from(secret);
    const forms = [secret, encodeURIComponent(secret), bytes.toString("base64"), bytes.toString("base64url")];
    this.#secrets = [...new Set([...this.#secrets, ...forms])].sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    return this.#secrets.reduce((masked, secret) => masked.replaceAll(secret, MASKED), text);
  }

  json(json: unknown): unknown {
    return this.#mask(json, "");
  }

  #mask(value: unknown, key: string): unknown {
    if (SECRET_KEYS.test(key)) return MASKED;
    if (LINK_KEYS.test(key) && typeof value === "string") return MASKED_LINK;
    if (CUSTOMER_KEYS.test(key) && !JSON.stringify(value)?.includes(this.#ownEmail)) return maskLeaves(value);
    if (typeof value === "string") return PERSON_KEYS.test(key) && value !== this.#ownEmail ? MASKED : this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.#mask(item, key));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [this.text(name), this.#mask(member, name)]),
    );
  }
}

function maskLeaves(value: unknown): unknown {
  if (typeof value === "string") return MASKED;
  if (Array.isArray(value)) return value.map(maskLeaves);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskLeaves(member)]));
}
