import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { isDatabaseUnavailable } from "./database-unavailable.ts";

function refusal(code: string, routine: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError("no", 2, "error"), { code, routine });
}

const CASES: readonly [code: string, routine: string, isUnavailable: boolean][] = [
  ["08006", "ReportConnectionError", true],
  ["XX000", "ReportResultError", true],
  ["XX000", "CheckRemoteTransactionsHealth", true],
  ["XX000", "MarkRemoteTransactionFailed", true],
  ["XX000", "LookupShardRelationFromCatalog", true],
  ["XX000", "elog", false],
  ["23505", "ReportResultError", false],
];

for (const [code, routine, isUnavailable] of CASES) {
  test(`an error ${code} of ${routine} ${isUnavailable ? "is" : "is not"} an outage`, () => {
    assert.equal(isDatabaseUnavailable(refusal(code, routine)), isUnavailable);
  });
}
