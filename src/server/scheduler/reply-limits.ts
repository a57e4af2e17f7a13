// Whoever connects a system chooses the server that answers, so everything in a reply is limited: what takes computing, and what
// every visitor's frame would get. A reply with more is unreadable.

/** Members, items and objects. A month of times every five minutes has 30,000; availability of a hundred people 150,000. */
export const REPLY_VALUES_MAX = 200_000;
/** Ids are stored and indexed. The systems' own have up to about 200 characters. */
export const ID_LENGTH_MAX = 1_000;
/** More than one every five minutes in 31 days. */
export const SLOTS_MAX = 10_000;
export const DAYS_MAX = 40;
export const DAY_SLOTS_MAX = 1_440;
export const SERVICES_MAX = 500;
export const QUESTIONS_MAX = 100;
export const OPTIONS_MAX = 200;
export const STAFF_MAX = 1_000;
export const LOCATIONS_MAX = 50;

/** What is offered of it. `characters`: of all services together, as JSON. */
export const OFFERED = {
  services: 200,
  staff: 200,
  questions: 50,
  nameLength: 200,
  textLength: 2_000,
  characters: 1_000_000,
};

const LINK_LENGTH_MAX = 2_000;

/** Null unless it is https: links end up in emails, webhooks and pages, where `javascript:` would run. */
export function toHttpsLink(link: unknown): string | null {
  if (typeof link !== "string" || link.length > LINK_LENGTH_MAX) return null;
  return URL.parse(link)?.protocol === "https:" ? link : null;
}
