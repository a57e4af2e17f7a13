import assert from "node:assert/strict";
import { test } from "node:test";
import { CLICK_ID_FIELDS } from "#contract/analytics/attribution.ts";
import { PAID_CLICK_IDS } from "../src/server/analytics/classify/source-tables.ts";

test("every click id except fbclid marks a paid click", () =>
  assert.deepEqual([...PAID_CLICK_IDS.flatMap(({ fields }) => fields), "fbclid"].sort(), [...CLICK_ID_FIELDS].sort()));
