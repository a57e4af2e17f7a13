// Keeps bookings.csv up to date with Bookflow. Run it as often as you like; it may be killed at any time.
// Two runs must not overlap, so run it under a lock, on Linux for example with flock:
//   BOOKFLOW_URL=https://… BOOKFLOW_API_KEY=svc_live_… flock bookings.lock node sync-to-csv.ts

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type Booking, createClient, syncBookings } from "@bookflow/client";

const { BOOKFLOW_URL = "", BOOKFLOW_API_KEY = "", CSV_FILE = "bookings.csv" } = process.env;
const CHECKPOINT_FILE = `${CSV_FILE}.checkpoint`;
const HEADING = "reference,createdAt,status,start,end,service,name,email,source,campaign";

const read = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : null);
const write = (path: string, text: string) => {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
};
/** One line, and nothing a spreadsheet would run as a formula: visitors choose these texts. */
const quote = (text = "") =>
  `"${text
    .replace(/\s+/g, " ")
    .replace(/^[=+\-@]/, "'$&")
    .replaceAll('"', '""')}"`;
const toLine = ({ reference, createdAt, status, start, end, service, customer, attribution }: Booking) =>
  [reference, createdAt, status, start, end]
    .concat([service.name, customer.name, customer.email, attribution.source, attribution.campaign].map(quote))
    .join(",");

const lines = new Map(
  (read(CSV_FILE) ?? "")
    .split("\n")
    .slice(1, -1)
    .map((line) => [line.slice(0, 10), line]),
);
/** Bookings first, then the checkpoint: if we stop in between, they come again. */
const save = (checkpoint: string) => {
  write(CSV_FILE, `${[HEADING, ...lines.values()].join("\n")}\n`);
  write(CHECKPOINT_FILE, checkpoint);
};

const count = await syncBookings(createClient({ baseUrl: BOOKFLOW_URL, apiKey: BOOKFLOW_API_KEY }), {
  store: {
    readCheckpoint: () => read(CHECKPOINT_FILE),
    upsert: (bookings, checkpoint) => {
      for (const booking of bookings) lines.set(booking.reference, toLine(booking));
      save(checkpoint);
    },
    change: (changes, checkpoint) => {
      for (const { reference, status, start, end } of changes) {
        const line = lines.get(reference)?.split(",");
        if (line) lines.set(reference, [...line.slice(0, 2), status, start, end, ...line.slice(5)].join(","));
      }
      save(checkpoint);
    },
    delete: (references, checkpoint) => {
      for (const reference of references) lines.delete(reference);
      save(checkpoint);
    },
  },
});
process.stdout.write(`${count} bookings\n`);
