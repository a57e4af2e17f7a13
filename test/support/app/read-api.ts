import assert from "node:assert/strict";
import type { FastifyInstance } from "fastify";
import type { Booking } from "#contract/bookings/booking.ts";
import { type ApiKeyId, type OrganizationId, REFERENCE, type Reference, type WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { NewBooking } from "../../../src/server/bookings/flow/keep-booking.ts";
import { toApiJson } from "../../../src/server/bookings/stored/to-api-json.ts";
import type { Db } from "../../../src/server/db/connections/pool.ts";
import { makeKey, makeOrganization, makeWidget, NOON } from "../builders.ts";

/** An organization that uses the read API: one widget, one key, and the header with the key. */
export type TestCaller = {
  owner: OrganizationId;
  widgetId: WidgetId;
  keyId: ApiKeyId;
  key: string;
  headers: { authorization: string };
};

export async function makeCaller(
  db: Db,
  { plan, ...key }: { plan?: Plan } & Parameters<typeof makeKey>[2] = {},
): Promise<TestCaller> {
  const owner = await makeOrganization(db, plan === undefined ? {} : { plan });
  const widgetId = await makeWidget(db, owner);
  const made = await makeKey(db, owner, key);
  return { owner, widgetId, keyId: made.id, key: made.key, headers: { authorization: `Bearer ${made.key}` } };
}

/** What most tests check of a response: its status and its whole body. */
export type Received = { status: number; body: unknown };

export async function getJson(
  app: FastifyInstance,
  url: string,
  headers: Record<string, string | string[]> = {},
): Promise<Received> {
  const response = await app.inject({ url, headers });
  return { status: response.statusCode, body: response.json() };
}

export function errorResponse(status: number, code: string, message: string): Received {
  return { status, body: { error: { code, message } } };
}

export function plainBooking(reference: Reference, widgetId: WidgetId): NewBooking {
  return {
    reference,
    widget_id: widgetId,
    status: "confirmed",
    start_at: NOON,
    end_at: NOON,
    time_zone: "UTC",
    service_id: "svc-1",
    service_name: "Check-up",
    staff: "[]",
    customer_name: "Mara Quell",
    customer_email: "mara.quell@example.com",
    answers: "[]",
    attribution: "{}",
  };
}

/** Many plain bookings at once, a millisecond apart starting at `firstAt`; returns their createdAt, oldest first. */
export async function fillBookings(
  db: Db,
  caller: Pick<TestCaller, "owner" | "widgetId">,
  options: { count: number; firstAt: Date },
): Promise<string[]> {
  const instants = Array.from({ length: options.count }, (_, i) => new Date(options.firstAt.getTime() + i));
  const rows = instants.map((createdAt, i) => {
    const booking = plainBooking(`${REFERENCE.prefix}${toReferenceDigits(i)}` as Reference, caller.widgetId);
    const row = { ...booking, organization_id: caller.owner, created_at: createdAt };
    return { ...row, api_json: toApiJson(row) };
  });
  // Taken, so that a booking made later can't get one of them.
  const taken = rows.map(({ organization_id, reference }) => ({ organization_id, reference }));
  await db
    .insertInto("booking_references")
    .values(taken)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db.insertInto("bookings").values(rows).execute();
  return instants.map((instant) => instant.toISOString());
}

function toReferenceDigits(number: number): string {
  let rest = number;
  let text = "";
  for (let i = 0; i < REFERENCE.length; i++) {
    text = REFERENCE.alphabet.charAt(rest % REFERENCE.alphabet.length) + text;
    rest = Math.floor(rest / REFERENCE.alphabet.length);
  }
  return text;
}

/** One page of /api/v1/bookings, reduced to what paging needs. */
export type Page = { createdAts: string[]; references: string[]; nextCursor: string | null };

export async function getPage(
  app: FastifyInstance,
  headers: Record<string, string>,
  query: Record<string, string | number> = {},
): Promise<Page> {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const { status, body } = await getJson(app, `/api/v1/bookings?${search}`, headers);
  assert.equal(status, 200, JSON.stringify(body));
  const { data, nextCursor } = body as { data: Booking[]; nextCursor: string | null };
  return {
    createdAts: data.map((booking) => booking.createdAt),
    references: data.map((booking) => booking.reference),
    nextCursor,
  };
}

/** Follows nextCursor from the first page to the last. */
export async function getAllPages(
  app: FastifyInstance,
  headers: Record<string, string>,
  query: Record<string, string | number> = {},
): Promise<Page[]> {
  const pages = [await getPage(app, headers, query)];
  for (let cursor = pages[0]?.nextCursor; cursor; cursor = pages.at(-1)?.nextCursor) {
    const page = await getPage(app, headers, { ...query, cursor });
    // A cursor that doesn't decrease would loop for ever.
    assert.ok(page.nextCursor === null || page.nextCursor < cursor, String(page.nextCursor));
    pages.push(page);
  }
  return pages;
}
