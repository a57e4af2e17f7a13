import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LANGUAGES } from "#contract/widgets/languages.ts";
import { texts as english } from "./en.ts";
import { loadTexts } from "./load-texts.ts";

/** Words that are the same in both languages. */
const SHARED = /^(Online|Test|Name|Service|optional)$/;

describe("every language has its own version of every text", () => {
  for (const language of LANGUAGES)
    test(language, async () => {
      const texts = await loadTexts(language);
      for (const [name, text] of Object.entries(texts)) {
        if (typeof text === "number") continue;
        const said = typeof text === "string" ? text : text(2 as never, "x" as never);
        assert.ok(said.trim() !== "" && !said.includes("undefined"), name);
        const original = english[name as keyof typeof english];
        if (language !== "en" && typeof original === "string" && !SHARED.test(original))
          assert.notEqual(said, original, `${language} ${name}`);
      }
    });
});
