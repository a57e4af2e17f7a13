/** "5 March 2027 at 15:30 (Europe/Berlin)", rounded down to the minute. */
export function toInstantWords(instant: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone });
  return `${format.format(instant)} (${timeZone})`;
}
