import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "./errors/api-error.ts";
import { readPage, readRowCursor, toRowCursor } from "./paging.ts";

const ID = "0d9c8a4e-5b1f-4c3e-9a67-2f1be8d60c55";
const AT = new Date("2026-11-01T09:30:00.041Z");

async function readNumbers(limit: number, count: number) {
  const numbers = Array.from({ length: count }, (_, index) => count - index);
  return await readPage({ limit, read: async (most) => numbers.slice(0, most), toCursor: (last) => `below ${last}` });
}

test("a page has the requested number of rows, and a cursor only when there are more", async () => {
  assert.deepEqual(await readNumbers(2, 0), { rows: [], nextCursor: null });
  assert.deepEqual(await readNumbers(2, 1), { rows: [1], nextCursor: null });
  assert.deepEqual(await readNumbers(2, 2), { rows: [2, 1], nextCursor: null });
  assert.deepEqual(await readNumbers(2, 3), { rows: [3, 2], nextCursor: "below 2" });
});

test("a cursor is read back as its time and id", () => {
  const cursor = toRowCursor({ at: AT, id: ID });
  assert.equal(cursor, `2026-11-01T09:30:00.041Z_${ID}`);
  assert.deepEqual(readRowCursor({ cursor }, "cursor"), { at: AT, id: ID });
  assert.equal(readRowCursor({}, "cursor"), null);
});

for (const cursor of ["", "x", `_${ID}`, `${AT.toISOString()}_`, `${AT.toISOString()}_${ID}_`, `yesterday_${ID}`]) {
  test(`the cursor ${JSON.stringify(cursor)} is refused`, () =>
    assert.throws(
      () => readRowCursor({ cursor }, "cursor"),
      new ApiError("bad_request", "The parameter cursor must be the nextCursor of the previous page."),
    ));
}
