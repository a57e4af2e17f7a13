const WORDS = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

/** "5 March 2027 at 15:30 UTC", rounded down to the minute. */
export function toInstantWords(instant: Date): string {
  return `${WORDS.format(instant)} UTC`;
}
