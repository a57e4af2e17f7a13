import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CHANNELS } from "#contract/analytics/dimensions.ts";
import type { Step } from "#contract/analytics/steps.ts";
import { parseReference } from "#contract/ids.ts";
import { TEMPLATES } from "#contract/widgets/widget.ts";
import { NOON } from "../../../test/support/builders.ts";
import { toStepBit } from "../analytics/record/hit.ts";
import { parseImportLine } from "../bookings/import/parse-import-line.ts";
import { classifyWay } from "./attribution.ts";
import { DEMO_WIDGETS, DEMO_ZONE, LANDING_PAGE } from "./clinic.ts";
import { DEMO_DAYS, makeTraffic } from "./traffic.ts";
import { TRAFFIC_SOURCES } from "./traffic-sources.ts";

const visits = makeTraffic(NOON);
const starts = visits.map(({ hits: [first] }) => toLocal(first?.at ?? NOON));
const bookings = visits.flatMap((visit) => visit.bookings);
const hits = visits.flatMap((visit) => visit.hits);

function toLocal(at: Date): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(DEMO_ZONE);
}

const today = toLocal(NOON).toPlainDate();

function daysAgo(at: Date): number {
  return toLocal(at).toPlainDate().until(today).days;
}

/** How many days ago each visit began. */
const ages = starts.map((start) => start.toPlainDate().until(today).days);

const share = (part: number, whole: number) => part / whole;

describe("the demo's history", () => {
  test("is the same for the same instant", () => {
    assert.deepEqual(makeTraffic(NOON), visits);
  });

  test("has visits on each day of more than a year, three times as many now, and nothing in the future", () => {
    assert.ok(visits.length > 20_000 && visits.length < 26_000, `${visits.length}`);
    const countBetween = (from: number, to: number) => ages.filter((age) => age >= from && age < to).length;
    assert.ok(countBetween(0, 30) > 2.5 * countBetween(365, 395));
    assert.equal(new Set(starts.map((start) => start.toPlainDate().toString())).size, DEMO_DAYS);
    assert.ok(hits.every(({ at }) => at < NOON));
  });

  test("has busy Mondays and quiet weekends, mornings and evenings, and hardly a visit at night", () => {
    const onWeekday = (weekday: number) => starts.filter((start) => start.dayOfWeek === weekday).length;
    assert.ok(onWeekday(1) > 1.5 * onWeekday(6) && onWeekday(1) > 1.4 * onWeekday(7) && onWeekday(1) > onWeekday(5));
    const between = (from: number, to: number) =>
      starts.filter(({ hour }) => hour >= from && hour < to).length / (to - from);
    assert.ok(between(9, 12) > 10 * between(1, 5) && between(18, 21) > between(13, 17));
  });

  test("has every channel, and each campaign only while it runs", () => {
    assert.deepEqual(
      new Set<string>(TRAFFIC_SOURCES.map((way) => classifyWay(way).channel)),
      new Set<string>(CHANNELS),
    );
    for (const way of TRAFFIC_SOURCES.filter(({ lasts }) => lasts)) {
      const { source, medium, campaign } = classifyWay(way);
      const own = visits
        .flatMap(({ hits: [first] }) => first ?? [])
        .filter((first) => first.campaign === campaign && first.source === source && first.medium === medium)
        .map((first) => daysAgo(first.at));
      const [from = 0, to = 0] = way.lasts ?? [];
      const [first, last] = [Math.max(...own), Math.min(...own)];
      // Not outside its period; small ones may have no visit on the first or last day.
      assert.ok(first <= from && first >= from - 2 && last >= to && last <= to + 2, `${campaign}: ${first} to ${last}`);
    }
  });

  test("has more pages than fit on one page of a list, and phones that give up at the form", () => {
    const pages = new Set(
      visits.flatMap(({ hits: [first] }, index) => (first && (ages[index] ?? 0) < 30 ? [first.page] : [])),
    );
    assert.ok(pages.size > 50, `${pages.size}`);
    const reach = (device: string, step: Step) =>
      visits.filter(
        ({ hits: [first, ...later] }) =>
          first?.device === device && later.some(({ steps }) => steps === toStepBit(step)),
      ).length;
    const share = (device: string) => reach(device, "form_started") / reach(device, "slot_selected");
    assert.ok(share("mobile") < 0.75 * share("desktop"), `${share("mobile")} ${share("desktop")}`);
  });

  test("has all templates, and a paused widget that stores nothing", () => {
    assert.deepEqual(new Set(DEMO_WIDGETS.map(({ template }) => template)), new Set(TEMPLATES));
    for (const { id } of DEMO_WIDGETS) assert.ok(hits.some(({ widgetId }) => widgetId === id));
    const old = hits.filter(({ widgetId }) => widgetId === LANDING_PAGE.id);
    assert.ok(old.every(({ at }) => daysAgo(at) > (LANDING_PAGE.pausedDaysAgo ?? 0)));
    assert.ok(old.some(({ conversion }) => conversion?.step === "booking_completed"));
    assert.ok(bookings.every(({ line }) => line.widgetId !== LANDING_PAGE.id));
  });

  test("converts at a realistic rate, with some failures", () => {
    const count = (step: Step) => hits.filter(({ steps }) => steps === toStepBit(step)).length;
    const rate = share(count("booking_completed"), visits.length);
    assert.ok(rate > 0.05 && rate < 0.12, `${rate}`);
    assert.ok(count("no_availability") > 100 && count("booking_failed") > 50);
    const byWay = (medium: string) => {
      const own = visits.filter(({ hits: [first] }) => first?.medium === medium);
      return share(own.filter((visit) => visit.bookings.length > 0).length, own.length);
    };
    assert.ok(byWay("email") > 2 * byWay("social") && byWay("cpc") > byWay("banner"));
  });
});

describe("the demo's bookings", () => {
  test("each has its visit's booking_completed with the same instant, widget and appointment", () => {
    for (const visit of visits.filter((one) => one.bookings.length > 0)) {
      const completed = visit.hits.flatMap(({ at, widgetId, conversion }) =>
        conversion?.step === "booking_completed" ? [{ at, widgetId, ...conversion }] : [],
      );
      assert.deepEqual(
        completed.map(({ at, startAt, widgetId }) => [at.toISOString(), startAt?.toISOString(), widgetId]),
        visit.bookings.map(({ line }) => [line.createdAt, line.start, line.widgetId]),
      );
      for (const { key } of completed) assert.ok(visit.bookings.every(({ line }) => line.reference !== key));
    }
  });

  test("can all be imported", () => {
    for (const { line } of bookings)
      assert.ok("row" in parseImportLine(JSON.stringify(line), { now: NOON, baseUrl: "https://bookings.example" }));
  });

  test("have unique references and instants, and nobody is double-booked", () => {
    assert.equal(new Set(bookings.map(({ line }) => parseReference(line.reference))).size, bookings.length);
    assert.equal(new Set(bookings.map(({ line }) => line.createdAt)).size, bookings.length);
    const places = bookings.flatMap(({ line, change }) => {
      const starts = [line.start, change?.movedTo?.startAt.toISOString()];
      return starts.flatMap((start) => (start ? [`${line.widgetId} ${line.staff} ${start}`] : []));
    });
    assert.equal(new Set(places).size, places.length);
    assert.ok(bookings.every(({ line }) => line.start > line.createdAt));
  });

  test("are cancelled or moved now and then, before the appointment, to another time with the same person", () => {
    const changed = bookings.flatMap((booking) => (booking.change ? [{ ...booking, ...booking.change }] : []));
    const moved = changed.flatMap(({ movedTo, appointment }) => (movedTo ? [{ movedTo, appointment }] : []));
    for (const count of [moved.length, changed.length - moved.length]) {
      const part = share(count, bookings.length);
      assert.ok(part > 0.03 && part < 0.08, `${part}`);
    }
    for (const { at, line } of changed)
      assert.ok(at <= NOON && at.toISOString() > line.createdAt && at.toISOString() < line.start);
    for (const { movedTo, appointment } of moved) {
      assert.deepEqual([movedTo.staffId, movedTo.service], [appointment.staffId, appointment.service]);
      assert.notDeepEqual(movedTo.startAt, appointment.startAt);
    }
  });

  test("have the same attribution as the visit's events", () => {
    for (const { hits, bookings } of visits) {
      const came = hits.map(({ source, medium, channel }) => [source, medium, channel]);
      for (const { line } of bookings) {
        const { source, medium, channel } = line.attribution ?? {};
        assert.deepEqual(came[0], [source, medium, channel]);
      }
    }
    for (const field of [
      "gclid",
      "gbraid",
      "wbraid",
      "fbclid",
      "msclkid",
      "liFatId",
      "ttclid",
      "fbp",
      "gaClientId",
    ] as const)
      assert.ok(
        bookings.some(({ line }) => line.attribution?.[field]),
        field,
      );
  });

  test("answer every required question of their service, with one of its options if it has any", () => {
    for (const { line, appointment } of bookings) {
      for (const { id, required, options, label } of appointment.service.questions) {
        const answer = line.answers?.find(({ questionId }) => questionId === id);
        assert.ok(answer || !required);
        if (answer) assert.ok(answer.question === label && (options.length === 0 || options.includes(answer.answer)));
      }
    }
    assert.ok(bookings.some(({ line }) => (line.answers ?? []).length > 1));
  });

  test("are made by people of many languages, some of whom return", () => {
    const names = bookings.map(({ line }) => line.customer.name).join(" ");
    for (const letters of ["ü", "ß", "ş", "ł", "Ш", "佐", "✨"]) assert.ok(names.includes(letters), letters);
    const emails = new Set(bookings.map(({ line }) => line.customer.email));
    assert.ok(emails.size < bookings.length && emails.size > bookings.length / 2);
    for (const email of emails) assert.match(email, /^[a-z]+\.[a-z]+\d+@example\.(com|net|org)$/);
  });
});
