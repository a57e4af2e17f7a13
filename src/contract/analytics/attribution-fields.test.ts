import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/cost.ts";
import { TEXTS_WITH_EMAIL, TEXTS_WITHOUT_EMAIL } from "../../../test/support/funnel/email-texts.ts";
import { EMAIL_IN_TEXT } from "./attribution-fields.ts";

for (const text of TEXTS_WITH_EMAIL)
  test(`"${text}" may contain an email address`, () => assert.equal(EMAIL_IN_TEXT.test(text), true));

for (const text of TEXTS_WITHOUT_EMAIL)
  test(`"${text}" contains none`, () => assert.equal(EMAIL_IN_TEXT.test(text), false));

test("hostile texts take linear time", () => {
  for (const part of ["a ", "%25", "a%", "%25ef", "((at", "a(at ", " "])
    assertGrowsLinearly((length) => EMAIL_IN_TEXT.test(part.repeat(length)), 16_000);
});
