import assert from "node:assert/strict";
import { test } from "node:test";
import { listHostUrls } from "./host-urls.ts";

const cases: [string, string[]][] = [
  ["postgres://one/bookflow", ["postgres://one/bookflow"]],
  [
    "postgres://u:p@one:5432,two:5433/bookflow",
    ["postgres://u:p@one:5432/bookflow", "postgres://u:p@two:5433/bookflow"],
  ],
  [
    "postgresql://u:p,q@one,two/bookflow?sslmode=require",
    ["postgresql://u:p,q@one/bookflow?sslmode=require", "postgresql://u:p,q@two/bookflow?sslmode=require"],
  ],
  ["postgres://u@/bookflow?host=/var/run,x", ["postgres://u@/bookflow?host=/var/run,x"]],
];

for (const [url, expected] of cases) {
  test(`${url} names ${expected.length} servers`, () => assert.deepEqual(listHostUrls(url), expected));
}
