import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFormats, toFirstWeekday } from "./formats.ts";
import { groupZones, toZoneName } from "./zones.ts";

const START_MS = Date.parse("2026-11-02T08:00:00.000Z");
const plain = (text: string) => text.replace(/[\u202f\u2009\u00a0]/g, " ");

describe("times follow the chosen zone, dates the locale", () => {
  // biome-ignore format: one case a line
  const cases: [locale: string, zone: string, time: string, date: string, month: string][] = [
    ["en-GB", "Europe/Berlin", "09:00", "Monday, 2 November 2026", "November 2026"],
    ["en-US", "America/New_York", "3:00 AM", "Monday, November 2, 2026", "November 2026"],
    ["de", "Europe/Berlin", "09:00", "Montag, 2. November 2026", "November 2026"],
    ["fr", "Asia/Tokyo", "17:00", "lundi 2 novembre 2026", "novembre 2026"],
    ["es", "Europe/Madrid", "9:00", "lunes, 2 de noviembre de 2026", "noviembre de 2026"],
    ["pt-BR", "America/Sao_Paulo", "05:00", "segunda-feira, 2 de novembro de 2026", "novembro de 2026"],
  ];
  for (const [locale, zone, time, date, month] of cases)
    test(`${locale} in ${zone}`, () => {
      const formats = createFormats(locale, zone, { firstWeekday: 1, hourCycle: null });
      assert.deepEqual([formats.time(START_MS), formats.dateOf(START_MS), formats.month("2026-11")].map(plain), [
        time,
        date,
        month,
      ]);
    });
});

test("the two times with one name on the night clocks go back are distinguished", () => {
  const { time, timeWithOffset } = createFormats("en-GB", "Europe/Berlin", { firstWeekday: 1, hourCycle: null });
  const [first, second] = [Date.parse("2026-10-25T00:30:00.000Z"), Date.parse("2026-10-25T01:30:00.000Z")];
  assert.equal(time(first), time(second));
  assert.deepEqual([timeWithOffset(first), timeWithOffset(second)].map(plain), ["02:30 GMT+2", "02:30 GMT+1"]);
});

test("a calendar day has the same name in every zone", () => {
  for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
    assert.equal(
      createFormats("en-GB", zone, { firstWeekday: 1, hourCycle: null }).day("2026-11-02"),
      "Monday 2 November",
    );
});

test("weeks start on Monday or Sunday, by locale", () => {
  assert.deepEqual([toFirstWeekday("de"), toFirstWeekday("en-US"), toFirstWeekday("pt-BR")], [1, 7, 7]);
  assert.equal(createFormats("en", "UTC", { firstWeekday: 7, hourCycle: null }).weekdays[0]?.long, "Sunday");
  assert.equal(createFormats("en", "UTC", { firstWeekday: 1, hourCycle: null }).weekdays[6]?.long, "Sunday");
});

test("the names above the calendar's days are short in every language", () => {
  const headsOf = (locale: string) =>
    createFormats(locale, "UTC", { firstWeekday: 1, hourCycle: null }).weekdays.map(({ short }) => short);
  assert.deepEqual(headsOf("pt-PT").slice(0, 2), ["seg", "ter"]);
  for (const locale of ["en-GB", "de-DE", "fr-FR", "es-ES", "pt-PT", "pt-BR"])
    for (const head of headsOf(locale)) assert.ok(head.length <= 4, head);
});

test("zones are grouped by continent and shown as places", () => {
  assert.deepEqual(groupZones(["Europe/Rome", "UTC", "Asia/Tokyo", "Europe/Berlin"]), [
    { label: "Asia", zones: ["Asia/Tokyo"] },
    { label: "Europe", zones: ["Europe/Berlin", "Europe/Rome"] },
    { label: "UTC", zones: ["UTC"] },
  ]);
  assert.equal(toZoneName("America/Argentina/Buenos_Aires"), "Buenos Aires, Argentina");
  assert.equal(toZoneName("UTC"), "UTC");
});

test("a range in the repeated hour says which one it is; any other does not", () => {
  const { timeRange } = createFormats("en-GB", "Europe/Berlin", { firstWeekday: 1, hourCycle: null });
  const range = (from: string, to: string) => timeRange(Date.parse(from), Date.parse(to)).replace(/\s/g, " ");
  assert.match(range("2027-10-31T00:00:00Z", "2027-10-31T00:30:00Z"), /02:00.*02:30.*GMT\+2/);
  assert.match(range("2027-10-31T01:00:00Z", "2027-10-31T01:30:00Z"), /02:00.*02:30.*GMT\+1/);
  assert.doesNotMatch(range("2027-10-31T09:00:00Z", "2027-10-31T09:30:00Z"), /GMT/);
});

test("a widget can fix the hours, whatever the visitor's language", () => {
  const at = Date.parse("2026-11-02T13:30:00.000Z");
  const timeIn = (locale: string, hourCycle: "h12" | "h23") =>
    createFormats(locale, "UTC", { firstWeekday: 1, hourCycle }).time(at);
  assert.equal(timeIn("en-US", "h23"), "13:30");
  assert.match(timeIn("de", "h12"), /^0?1:30.PM$/);
});
