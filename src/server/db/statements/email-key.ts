import { type RawBuilder, sql } from "kysely";

/** The same expression as in bookings.customer_email_key. */
export const toEmailKey = (email: string | RawBuilder<unknown>) =>
  sql<string>`lower(btrim(normalize((${email})::text), E' \\t\\n\\v\\f\\r\\u00A0') collate "pg_c_utf8")`;
