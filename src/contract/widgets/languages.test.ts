import assert from "node:assert/strict";
import { test } from "node:test";
import { findLanguage } from "./languages.ts";

test("a language is found in tags that POSIX systems report, and none in other texts", () => {
  assert.deepEqual(findLanguage(["en-US@posix"]), { language: "en", tag: "en-US" });
  assert.deepEqual(findLanguage(["de_DE.UTF-8"]), { language: "de", tag: "de-DE" });
  assert.deepEqual(findLanguage(["", "x", "ja-JP", "pt-PT"]), { language: "pt", tag: "pt-PT" });
  assert.deepEqual(findLanguage(["pt_br.UTF-8", "en"]), { language: "pt-BR", tag: "pt-BR" });
  assert.deepEqual(findLanguage(["pt-AO"]), { language: "pt", tag: "pt-AO" });
  assert.equal(findLanguage(["@posix", "ja"]), null);
});
