import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import { keepBooking } from "../../src/server/bookings/flow/keep-booking.ts";
import { takeReference } from "../../src/server/bookings/flow/reference.ts";
import { parseConfig } from "../../src/server/config.ts";
import { createDeps, type ServiceDeps } from "../../src/server/create-deps.ts";
import { openDatabase } from "../../src/server/db/open-database.ts";
import { inHome } from "../../src/server/db/statements/transactions.ts";
import { createLog } from "../../src/server/lib/log/log.ts";
import { addEndpoint } from "../../src/server/webhooks/endpoints/endpoints.ts";
import { wakeWorkers } from "../../src/server/webhooks/outbox/wake-workers.ts";
import { noAudit } from "../../test/support/app/no-audit.ts";
import { makeOrganization, makeWidget } from "../../test/support/builders.ts";

/** The parts of the service that store bookings, in this process, on the database of the service under test. */
export async function openBookings(
  settings: Readonly<Record<string, string>>,
): Promise<{ deps: ServiceDeps; close(): Promise<void> }> {
  const config = parseConfig({ ...settings, DATABASE_POOL_SIZE: "20" });
  const log = createLog("error");
  const database = await openDatabase({ config, log, notice: () => undefined });
  return { deps: await createDeps({ config, database, log }), close: () => database.close() };
}

export type Business = { owner: OrganizationId; widgetId: WidgetId };

export async function makeBusiness(
  deps: ServiceDeps,
  urls: readonly string[],
  kind: EndpointKind = "webhook",
): Promise<Business> {
  const owner = await makeOrganization(deps.db, { plan: "pro" });
  for (const url of urls) {
    const added = await addEndpoint(deps, owner, { url, kind, description: "" }, noAudit);
    if (added.kind !== "added") throw new Error(`${url} was refused: ${JSON.stringify(added)}`);
  }
  return { owner, widgetId: await makeWidget(deps.db, owner) };
}

/** Stores a booking as the booking flow does. Resolves with its reference and commit time. */
export async function book(
  deps: ServiceDeps,
  { owner, widgetId }: Business,
): Promise<{ reference: string; committedAt: number }> {
  const reference = await takeReference(deps.db, owner, deps.random);
  const stored = await inHome(deps.db, owner, (transaction) =>
    keepBooking(deps, transaction, { owner, booking: { ...TYPICAL, reference, widget_id: widgetId } }),
  );
  const committedAt = performance.timeOrigin + performance.now();
  await wakeWorkers(deps, owner, stored);
  return { reference, committedAt };
}

const TYPICAL = {
  status: "confirmed",
  start_at: new Date("2026-11-05T09:00:00.000Z"),
  end_at: new Date("2026-11-05T09:30:00.000Z"),
  time_zone: "Europe/Berlin",
  service_id: "svc-1",
  service_name: "Check-up",
  staff: JSON.stringify([{ id: "st-1", name: "Dr. Ada Winter" }]),
  customer_name: "Mara Quell",
  customer_email: "mara.quell@example.com",
  customer_phone: "+49 30 5550100",
  customer_notes: "Please call when you are running late.",
  answers: JSON.stringify([{ questionId: "q-1", question: "Is this your first visit?", answer: "Yes" }]),
  attribution: JSON.stringify({
    source: "google",
    medium: "cpc",
    campaign: "autumn",
    channel: "Paid Search",
    pageUrl: "https://www.lindenhof-dental.example/booking",
    landingPage: "https://www.lindenhof-dental.example/?utm_source=google&utm_medium=cpc&utm_campaign=autumn",
    referrer: "https://www.google.com/",
    utmSource: "google",
    utmMedium: "cpc",
    utmCampaign: "autumn",
    gclid: "Cj0KCQiAtest",
    gaClientId: "1234567890.1730000000",
  }),
  external_id: "ext-1",
  manage_url: "https://scheduler.example/manage/1",
  join_url: "https://meet.example/1",
};
