// Keeps the table bookings up to date with Bookflow. Run it as often as you like; it may be killed at any time:
//   BOOKFLOW_URL=https://… BOOKFLOW_API_KEY=svc_live_… DATABASE_URL=postgres://… node sync-to-postgresql.ts

import { createClient, syncBookings } from "@bookflow/client";
import pg from "pg";

const { BOOKFLOW_URL = "", BOOKFLOW_API_KEY = "", DATABASE_URL = "" } = process.env;
const db = new pg.Client({ connectionString: DATABASE_URL });
await db.connect();
await db.query(`
  create table if not exists bookings (reference text primary key, created_at timestamptz not null, booking jsonb not null);
  create table if not exists bookings_place (only_row boolean primary key default true check (only_row), place text not null);`);

const count = await syncBookings(createClient({ baseUrl: BOOKFLOW_URL, apiKey: BOOKFLOW_API_KEY }), {
  store: {
    readPlace: async () => (await db.query("select place from bookings_place")).rows[0]?.place ?? null,
    // One statement saves the bookings and the place together.
    upsert: async (bookings, place) => {
      await db.query(
        `with kept as (
           insert into bookings (reference, created_at, booking)
           select item->>'reference', (item->>'createdAt')::timestamptz, item from jsonb_array_elements($1::jsonb) as item
           on conflict (reference) do update set created_at = excluded.created_at, booking = excluded.booking)
         insert into bookings_place (place) values ($2) on conflict (only_row) do update set place = excluded.place`,
        [JSON.stringify(bookings), place],
      );
    },
    delete: async (references, place) => {
      await db.query(
        `with gone as (delete from bookings where reference = any($1::text[]))
         insert into bookings_place (place) values ($2) on conflict (only_row) do update set place = excluded.place`,
        [references, place],
      );
    },
  },
});
process.stdout.write(`${count} bookings\n`);
await db.end();
