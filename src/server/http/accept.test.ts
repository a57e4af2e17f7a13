import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toAcceptedLanguage } from "./accept.ts";

describe("the first supported language in the browser's order is used", () => {
  // biome-ignore format: one case a line
  const cases: [header: string | undefined, language: string][] = [
    [undefined, "en"],
    ["", "en"],
    ["*", "en"],
    ["de", "de"],
    ["de-AT,de;q=0.9,en;q=0.8", "de"],
    ["ja,nl;q=0.9", "en"],
    ["ja, pt-BR;q=0.5, fr;q=0.7", "fr"],
    ["fr;q=0, es;q=0.1", "es"],
    ["DE-de", "de"],
    ["den, dex", "en"],
    [",;q=,;;", "en"],
  ];
  for (const [header, language] of cases)
    test(String(header), () => assert.equal(toAcceptedLanguage(header).language, language));
});

test("the region stays, because dates are written differently in it", () => {
  assert.equal(toAcceptedLanguage("en-GB,en;q=0.9").tag, "en-GB");
  assert.equal(toAcceptedLanguage("ja").tag, "en");
});
