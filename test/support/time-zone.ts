import { after } from "node:test";

/**
 * Runs the file's tests in a zone that is far from UTC, with half an hour in its offset and clock changes, so that code that
 * counts in the server's own zone shows.
 */
export function runInDistantTimeZone(): void {
  const own = process.env["TZ"];
  process.env["TZ"] = "America/St_Johns";
  after(() => {
    if (own === undefined) delete process.env["TZ"];
    else process.env["TZ"] = own;
  });
}
