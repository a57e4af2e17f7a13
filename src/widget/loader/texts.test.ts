import assert from "node:assert/strict";
import { test } from "node:test";
import { findTexts } from "./texts.ts";

test("the loader uses the page's language, or English if it doesn't know it", () => {
  assert.deepEqual(findTexts("de-AT"), ["Termin buchen", "Schließen", "Nicht geladen", "Erneut versuchen"]);
  assert.deepEqual(findTexts("PT"), ["Agendar", "Fechar", "Não carregado", "Tentar novamente"]);
  for (const locale of ["en-GB", "ja", "", "x"])
    assert.deepEqual(findTexts(locale), ["Book an appointment", "Close", "Not loaded", "Try again"], locale);
});
