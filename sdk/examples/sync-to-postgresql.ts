// Keeps the table bookings up to date with Bookflow. Run it as often as you like; it may be killed at any time:
//   BOOKFLOW_URL=https://… BOOKFLOW_API_KEY=svc_live_… DATABASE_URL=postgres://… node sync-to-postgresql.ts

import { createClient, syncBookings } from "@bookflow/client";
import pg from "pg";

const { BOOKFLOW_URL = "", BOOKFLOW_API_KEY = "", DATABASE_URL = "" } = process.env;
const db = new pg.Client({ connectionString: DATABASE_URL });
await db.connect();
// One run at a time: another one waits here until this one ends or is killed.
await db.query("select pg_advisory_lock(hashtext('bookings_checkpoint'))");
await db.query(`
  create table if not exists bookings (reference text primary key, created_at timestamptz not null, booking jsonb not null);
  create table if not exists bookings_checkpoint (only_row boolean primary key default true check (only_row), checkpoint text not null);`);

const count = await syncBookings(createClient({ baseUrl: BOOKFLOW_URL, apiKey: BOOKFLOW_API_KEY }), {
  store: {
    readCheckpoint: async () =>
      (await db.query("select checkpoint from bookings_checkpoint")).rows[0]?.checkpoint ?? null,
    // One statement saves the bookings and the checkpoint together.
    upsert: async (bookings, checkpoint) => {
      await db.query(
        `with kept as (
           insert into bookings (reference, created_at, booking)
           select item->>'reference', (item->>'createdAt')::timestamptz, item from jsonb_array_elements($1::jsonb) as item
           on conflict (reference) do update set created_at = excluded.created_at, booking = excluded.booking)
         insert into bookings_checkpoint (checkpoint) values ($2) on conflict (only_row) do update set checkpoint = excluded.checkpoint`,
        [JSON.stringify(bookings), checkpoint],
      );
    },
    change: async (changes, checkpoint) => {
      await db.query(
        `with changed as (
           update bookings set booking = booking || jsonb_build_object('status', item->'status', 'start', item->'start', 'end', item->'end')
           from jsonb_array_elements($1::jsonb) as item where reference = item->>'reference')
         insert into bookings_checkpoint (checkpoint) values ($2) on conflict (only_row) do update set checkpoint = excluded.checkpoint`,
        [JSON.stringify(changes), checkpoint],
      );
    },
    delete: async (references, checkpoint) => {
      await db.query(
        `with gone as (delete from bookings where reference = any($1::text[]))
         insert into bookings_checkpoint (checkpoint) values ($2) on conflict (only_row) do update set checkpoint = excluded.checkpoint`,
        [references, checkpoint],
      );
    },
  },
});
process.stdout.write(`${count} bookings\n`);
await db.end();
