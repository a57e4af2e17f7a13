import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import type { Attribution } from "#contract/analytics/attribution.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../../../test/support/app/app-api.ts";
import { signIn } from "../../../../../test/support/app/sign-in.ts";
import { makeBooking, makeOrganization, makeWidget } from "../../../../../test/support/builders.ts";
import { inHome } from "../../../db/statements/transactions.ts";
import { applyChange } from "../../changes/apply-change.ts";
import { deleteBooking } from "../erase/erase.ts";

const testApp = await createTestApp();
const { app, deps } = testApp;
const { db } = deps;

type Business = { owner: OrganizationId; widgetId: WidgetId };

async function makeBusiness(): Promise<Business> {
  const owner = await makeOrganization(db, { plan: "pro" });
  return { owner, widgetId: await makeWidget(db, owner) };
}

/** Bookings a second apart from 18:05:03, the last one first in the file. */
async function makeBookings({ owner, widgetId }: Business, attributions: readonly Attribution[]): Promise<string[]> {
  const references: string[] = [];
  for (const [second, attribution] of attributions.entries()) {
    const { reference } = await makeBooking(db, owner, {
      widgetId,
      now: new Date(Date.parse("2026-10-31T18:05:03.900Z") + second * 1_000),
      attribution: JSON.stringify(attribution),
      customer_email: " Mara.Quell@Example.com ",
    });
    references.push(reference);
  }
  return references;
}

async function read(business: Business, query: string) {
  const admin = await signIn(testApp, { role: "admin", organizationId: business.owner });
  const response = await app.inject({ url: `/api/app/ad-conversions.csv?${query}`, headers: admin.headers });
  return { ...response, lines: response.body.split("\r\n"), admin };
}

describe("the export for ads", () => {
  test("for Google Ads has one click id a line, the time with its offset, and the reference", async () => {
    const business = await makeBusiness();
    const references = await makeBookings(business, [
      { gclid: "-Cj0KCQ_iA", gbraid: "0AAAA" },
      { gbraid: "0AAAAB" },
      { wbraid: "CkAKC" },
      { msclkid: "f894f652" },
      {},
      // Not an id but a formula.
      { gclid: '=HYPERLINK("https://evil.example")' },
    ]);
    const { lines, headers } = await read(
      business,
      `platform=google&conversionName=${encodeURIComponent('Visit, "new"')}`,
    );
    assert.equal(headers["content-type"], "text/csv; charset=utf-8");
    assert.equal(headers["content-disposition"], 'attachment; filename="google-conversions-2026-11-01.csv"');
    const name = '"Visit, ""new"""';
    assert.deepEqual(lines, [
      "Google Click ID,GBRAID,WBRAID,Conversion Name,Conversion Time,Conversion Value,Conversion Currency,Order ID",
      `,,CkAKC,${name},2026-10-31 18:05:05+0000,,,${references[2]}`,
      `,0AAAAB,,${name},2026-10-31 18:05:04+0000,,,${references[1]}`,
      `-Cj0KCQ_iA,,,${name},2026-10-31 18:05:03+0000,,,${references[0]}`,
      "",
    ]);
  });

  test("for Microsoft Advertising has msclkid and the time of day with AM or PM", async () => {
    const business = await makeBusiness();
    await makeBooking(db, business.owner, {
      widgetId: business.widgetId,
      now: new Date("2026-01-02T00:07:09Z"),
      attribution: JSON.stringify({ msclkid: "ab12" }),
    });
    await makeBookings(business, [{ msclkid: "f894f652ea334e739002f7167ab8f8e3" }, { gclid: "Cj0" }]);
    assert.deepEqual((await read(business, "platform=microsoft")).lines, [
      "Parameters:TimeZone=+0000",
      "Microsoft Click ID,Conversion Name,Conversion Time,Conversion Value,Conversion Currency",
      "f894f652ea334e739002f7167ab8f8e3,Booking,10/31/2026 6:05:03 PM,,",
      "ab12,Booking,1/2/2026 12:07:09 AM,,",
      "",
    ]);
  });

  test("for Meta has fbc, fbp and the hashed address, and never the address itself", async () => {
    const business = await makeBusiness();
    const references = await makeBookings(business, [
      { fbc: "fb.1.1761933903000.IwAR0", fbp: "fb.1.1761933800000.1098115397" },
      { fbp: "fb.1.1761933800000.77" },
      { gclid: "Cj0" },
    ]);
    const hash = createHash("sha256").update("mara.quell@example.com").digest("hex");
    const { lines, body } = await read(business, "platform=meta");
    assert.deepEqual(lines, [
      "event_name,event_time,email,fbc,fbp,order_id",
      `Schedule,1793469904,${hash},,fb.1.1761933800000.77,${references[1]}`,
      `Schedule,1793469903,${hash},fb.1.1761933903000.IwAR0,fb.1.1761933800000.1098115397,${references[0]}`,
      "",
    ]);
    assert.ok(!body.toLowerCase().includes("example.com"));
  });

  test("leaves out bookings whose appointments were cancelled", async () => {
    const business = await makeBusiness();
    const [cancelled = ""] = await makeBookings(business, [{ gclid: "cancelled" }, { gclid: "kept" }]);
    await db
      .updateTable("bookings")
      .set({ status: "cancelled" })
      .where("reference", "=", cancelled as never)
      .execute();
    const { lines } = await read(business, "");
    assert.deepEqual([lines.length, lines[1]?.slice(0, 5)], [3, "kept,"]);
  });

  describe("of retractions for Google Ads", () => {
    const HEAD = "Order ID,Conversion Name,Adjustment Time,Adjustment Type,Adjusted Value,Adjusted Value Currency";

    async function cancel({ owner, widgetId }: Business, references: readonly string[]): Promise<void> {
      for (const reference of references as Reference[]) {
        const state = { owner, reference, widgetId, now: { kind: "cancelled" }, claim: async () => true } as const;
        await inHome(db, state.owner, (transaction) => applyChange(deps, transaction, state));
      }
    }

    test("lists what was exported before and cancelled since, with the name it was exported with", async () => {
      const business = await makeBusiness();
      const references = await makeBookings(business, [
        { gclid: "Cj0" },
        { gbraid: "0AA" },
        { gclid: "kept" },
        // Google can't retract these two: it doesn't know the first, and the second only by wbraid.
        { msclkid: "ab" },
        { wbraid: "CkA" },
      ]);
      const [clicked = "", app = ""] = references;
      await read(business, "platform=google&conversionName=Old");
      await read(
        business,
        `platform=google&conversionName=${encodeURIComponent("Visit, new")}&to=2026-10-31T18:05:04Z`,
      );
      assert.deepEqual((await read(business, "platform=google-retractions")).lines, [HEAD, ""]);
      await cancel(business, references.toSpliced(2, 1));
      const { lines, headers } = await read(business, "platform=google-retractions");
      assert.equal(headers["content-disposition"], 'attachment; filename="google-retractions-2026-11-01.csv"');
      assert.deepEqual(lines, [
        HEAD,
        `${app},Old,2026-11-01 12:00:00+0000,RETRACT,,`,
        `${clicked},"Visit, new",2026-11-01 12:00:00+0000,RETRACT,,`,
        "",
      ]);
      const other = await makeWidget(db, business.owner);
      assert.deepEqual((await read(business, `platform=google-retractions&widget=${other}`)).lines, [HEAD, ""]);
    });

    test("has nothing that was never exported, only exported elsewhere, tried, or is older than 54 days", async () => {
      const business = await makeBusiness();
      const old = await makeBooking(db, business.owner, {
        widgetId: business.widgetId,
        now: new Date("2026-09-08T11:59:59Z"),
        attribution: JSON.stringify({ gclid: "old" }),
      });
      await read(business, "platform=google");
      const references = await makeBookings(business, [{ gclid: "Cj0", msclkid: "ab" }]);
      await read(business, "platform=microsoft");
      await read(business, "platform=google&dryRun=true");
      await cancel(business, [old.reference, ...references]);
      // It is cancelled now, so it isn't in this file and isn't known to Google.
      await read(business, "platform=google");
      assert.deepEqual((await read(business, "platform=google-retractions")).lines, [HEAD, ""]);
    });

    test("leaves out what takes place again, and what was erased", async () => {
      const business = await makeBusiness();
      const references = await makeBookings(business, [{ gclid: "again" }, { gclid: "erased" }]);
      const [again = "", erased = ""] = references as Reference[];
      await read(business, "platform=google");
      await cancel(business, references);
      const startAt = new Date("2026-12-01T09:00:00Z");
      const now = {
        kind: "confirmed",
        externalId: "b-2",
        startAt,
        endAt: startAt,
        manageUrl: null,
        joinUrl: null,
      } as const;
      await inHome(db, business.owner, (transaction) =>
        applyChange(deps, transaction, { ...business, reference: again as Reference, now, claim: async () => true }),
      );
      await deleteBooking(deps, business.owner, erased as Reference);
      assert.deepEqual((await read(business, "platform=google-retractions")).lines, [HEAD, ""]);
    });
  });

  test("leaves out test bookings and other widgets, is logged with its platform, and has a dry run", async () => {
    const business = await makeBusiness();
    const [tested = ""] = await makeBookings(business, [{ gclid: "test" }, { gclid: "live" }]);
    await db
      .updateTable("bookings")
      .set({ is_test: true })
      .where("reference", "=", tested as never)
      .execute();
    const other = await makeWidget(db, business.owner);
    const { admin, lines } = await read(business, "");
    assert.deepEqual([lines.length, lines[1]?.slice(0, 5)], [3, "live,"]);
    assert.equal((await read(business, `widget=${other}`)).lines.length, 2);
    assert.equal((await read(business, "dryRun=true")).statusCode, 204);
    assert.deepEqual((await readAudit(db, business.owner))[0], {
      action: "bookings.exported",
      target: null,
      detail: { platform: "google", isSearch: "no" },
    });
    assert.equal((await readAudit(db, business.owner)).length, 2);
    for (const query of [
      "platform=bing",
      "conversionName=",
      `conversionName=${"x".repeat(101)}`,
      "conversionName=a%0Ab",
    ])
      assert.equal((await askApp(app, admin, `GET /ad-conversions.csv?${query}`)).status, 400, query);
    assert.equal((await askApp(app, admin, "HEAD /ad-conversions.csv")).status, 405);
  });
});
