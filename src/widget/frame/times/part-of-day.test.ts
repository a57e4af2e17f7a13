import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import { LANGUAGES, type Language } from "#contract/widgets/languages.ts";
import { loadTexts } from "../texts/load-texts.ts";
import { groupByPartOfDay } from "./part-of-day.ts";

const slotAt = (hour: number): FreeSlot => ({
  start: new Date(Date.UTC(2026, 10, 2, hour)).toISOString(),
  end: new Date(Date.UTC(2026, 10, 2, hour + 1)).toISOString(),
  staffIds: [],
});

const listHours = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

async function group(language: Language, hours: readonly number[]) {
  const texts = await loadTexts(language);
  const groups = groupByPartOfDay({ texts, timeZone: "UTC", slots: hours.map(slotAt) });
  return groups.map(({ label, members }) => [label, members.map(({ start }) => new Date(start).getUTCHours())]);
}

describe("evening starts when people who speak the language say so", () => {
  const expected: Record<Language, [labels: [string, string, string], eveningHour: number]> = {
    en: [["Morning", "Afternoon", "Evening"], 17],
    de: [["Vormittag", "Nachmittag", "Abend"], 18],
    fr: [["Matin", "Après-midi", "Soir"], 18],
    es: [["Mañana", "Tarde", "Noche"], 20],
    pt: [["Manhã", "Tarde", "Noite"], 20],
    "pt-BR": [["Manhã", "Tarde", "Noite"], 18],
  };
  for (const language of LANGUAGES)
    test(language, async () => {
      const [[morning, afternoon, evening], eveningHour] = expected[language];
      assert.deepEqual(await group(language, listHours(9, 21)), [
        [morning, listHours(9, 11)],
        [afternoon, listHours(12, eveningHour - 1)],
        [evening, listHours(eveningHour, 21)],
      ]);
    });
});

test("up to eight times are one list, and parts of the day without times are left out", async () => {
  assert.deepEqual(await group("en", listHours(9, 16)), [[null, listHours(9, 16)]]);
  assert.deepEqual(await group("es", listHours(11, 19)), [
    ["Mañana", [11]],
    ["Tarde", listHours(12, 19)],
  ]);
});
