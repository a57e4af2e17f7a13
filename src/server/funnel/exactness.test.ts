import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Analytics } from "#contract/analytics.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { STEPS } from "#contract/steps.ts";
import { makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { countByHand } from "../../../test/support/count-by-hand.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { selectAnalytics } from "../analytics/queries.ts";
import { toAnalytics } from "../analytics/report.ts";
import { updateOrganization } from "../organizations/queries.ts";
import { rebuildStats } from "./rebuild.ts";
import { recordTouches } from "./record.ts";
import { sealMonths } from "./seal-months.ts";
import { type Touch, toStepBit } from "./touch.ts";

const { db } = await createTestDatabase();

// Clocks go back on 25 October 2026 in Europe and on 1 November in America; Lord Howe moves by half an hour on 4 October;
// Nepal and the Chatham Islands are 45 minutes off; Azores midnights are ambiguous, Beirut's and Cairo's may be missing.
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kathmandu",
  "Pacific/Chatham",
  "Australia/Lord_Howe",
  "Atlantic/Azores",
  "Asia/Beirut",
  "America/St_Johns",
  "Pacific/Kiritimati",
];
const FIRST_MS = Date.parse("2026-08-20T00:00:00Z");
const NOW = new Date("2026-11-03T10:15:00.000Z");
const WINDOWS = [1, 2, 10, 40, 76, 120];

const classes = fc.constantFrom(
  { source: "google", medium: "cpc", campaign: "Autumn", channel: "Paid Search" },
  { source: "google", medium: "organic", campaign: "(not set)", channel: "Organic Search" },
  { source: "(direct)", medium: "(none)", campaign: "(not set)", channel: "Direct" },
  { source: "newsletter", medium: "email", campaign: "autumn", channel: "Email" },
  { source: "ñandú 🦤", medium: "qr", campaign: "Ünïcode", channel: "Unassigned" },
);
const instants = fc.integer({ min: FIRST_MS, max: NOW.getTime() }).map((ms) => new Date(ms));

/** A few instants only, so that touches often tie. */
const touchesOf = (widgets: readonly WidgetId[]) =>
  fc
    .record({
      widgetId: fc.constantFrom(...widgets),
      visitId: fc.uuid(),
      times: fc.array(instants, { minLength: 1, maxLength: 3 }),
    })
    .chain(({ widgetId, visitId, times }) =>
      fc.array(
        fc
          .record({
            at: fc.constantFrom(...times),
            step: fc.constantFrom(...STEPS),
            class: classes,
            key: fc.constantFrom("a", "b"),
            lead: fc.option(fc.integer({ min: -86_400_000, max: 9 * 86_400_000 })),
          })
          .map(
            (drawn): Touch => ({
              ...drawn.class,
              widgetId,
              visitId,
              at: drawn.at,
              steps: toStepBit(drawn.step),
              page: "https://example.com/book",
              device: "mobile",
              country: "DE",
              conversion:
                drawn.step === "booking_completed" || drawn.step === "booking_failed"
                  ? {
                      step: drawn.step,
                      key: drawn.key,
                      startAt:
                        drawn.step === "booking_completed" && drawn.lead !== null
                          ? new Date(drawn.at.getTime() + drawn.lead)
                          : null,
                    }
                  : null,
            }),
          ),
        { minLength: 1, maxLength: 8 },
      ),
    );

async function answer(owner: OrganizationId, window: { days: number; widgetId: WidgetId | null }): Promise<Analytics> {
  const counts = await selectAnalytics(db, owner, { ...window, now: NOW, keptSince: new Date("2024-11-03T00:00:00Z") });
  return toAnalytics(counts, window.days);
}

async function assertExact(
  owner: OrganizationId,
  about: { touches: readonly Touch[]; zone: string; widgets: readonly WidgetId[]; when: string },
) {
  for (const days of WINDOWS) {
    for (const widgetId of [null, ...about.widgets]) {
      const expected = countByHand(about.touches, { zone: about.zone, now: NOW, days, widgetId });
      assert.deepEqual(await answer(owner, { days, widgetId }), expected, `${about.when}, ${days} days`);
    }
  }
}

test("any order, duplication and batching of events gives what counting by hand gives, and so do rebuilds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ZONES),
      fc.constantFrom(...ZONES),
      fc.integer(),
      fc.infiniteStream(fc.nat()),
      fc.boolean(),
      async (zone, otherZone, seed, stream, sealsEarly) => {
        const owner = await makeOrganization(db, { timeZone: zone });
        const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
        const touches =
          fc
            .sample(fc.array(touchesOf(widgets), { minLength: 1, maxLength: 12 }), { seed: seed, numRuns: 1 })[0]
            ?.flat() ?? [];
        const draw = (below: number) => (stream.next().value ?? 0) % below;

        const sent = [...touches, ...touches.filter(() => draw(3) === 0)];
        for (let i = sent.length - 1; i > 0; i--) {
          const j = draw(i + 1);
          [sent[i], sent[j]] = [sent[j] as Touch, sent[i] as Touch];
        }
        const batches: Touch[][] = [];
        while (sent.length > 0) batches.push(sent.splice(0, 1 + draw(6)));

        const early = batches.splice(0, draw(batches.length + 1));
        for (const batch of early) await recordTouches(db, batch, "active");
        if (sealsEarly) await sealMonths(db, owner, { set: "current", now: NOW });
        await Promise.all(batches.map((batch) => recordTouches(db, batch, "active")));
        await assertExact(owner, { touches, zone, widgets, when: "recorded" });

        await sealMonths(db, owner, { set: "current", now: NOW });
        await assertExact(owner, { touches, zone, widgets, when: "sealed" });

        assert.equal((await rebuildStats({ db, clock: { now: () => NOW } }, owner)).kind, "rebuilt");
        await assertExact(owner, { touches, zone, widgets, when: "rebuilt" });

        await updateOrganization(db, owner, { time_zone: otherZone });
        await assertExact(owner, { touches, zone, widgets, when: "zone changed, not recounted yet" });
        await rebuildStats({ db, clock: { now: () => NOW } }, owner);
        await assertExact(owner, { touches, zone: otherZone, widgets, when: "recounted in the new zone" });
      },
    ),
    { numRuns: 25 },
  );
});
