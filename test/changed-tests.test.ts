import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseWithin, findAffected, readImports } from "../scripts/changed-tests.ts";

const IMPORTS = new Map(
  Object.entries({
    "src/a.ts": ["src/b.ts"],
    "src/b.ts": [],
    "src/a.test.ts": ["src/a.ts"],
    "src/b.test.ts": ["src/b.ts"],
    "src/c.test.ts": ["src/c.ts"],
    "test/support/browser/dashboard.ts": ["src/a.ts"],
    "test/browser/home.test.ts": ["test/support/browser/dashboard.ts"],
  }),
);

test("a change affects the tests that import it, nearest first, and no others", () => {
  assert.deepEqual(
    [...findAffected(["src/b.ts"], IMPORTS)],
    [
      ["src/b.test.ts", 1],
      ["src/a.test.ts", 2],
      ["test/browser/home.test.ts", 3],
    ],
  );
});

test("a change in the dashboard affects the tests that open it", () => {
  assert.deepEqual([...findAffected(["src/dashboard/main.tsx"], IMPORTS).keys()], ["test/browser/home.test.ts"]);
});

test("what is too long for a minute is left, but neither a changed test file nor the nearest one", () => {
  const affected = new Map([
    ["src/near.test.ts", 1],
    ["src/long.test.ts", 2],
    ["src/own.test.ts", 0],
    ["src/short.test.ts", 3],
  ]);
  const durations = Object.fromEntries([...affected.keys()].map((path) => [path, 90_000]));
  const choice = { changed: ["src/own.test.ts"], durations: { ...durations, "src/short.test.ts": 100 }, processes: 4 };
  assert.deepEqual(chooseWithin(affected, choice).left, ["src/near.test.ts", "src/long.test.ts"]);
  affected.delete("src/own.test.ts");
  const { chosen, left } = chooseWithin(affected, choice);
  assert.ok(chosen.includes("src/near.test.ts") && chosen.includes("src/short.test.ts"), chosen.join());
  assert.deepEqual(left, ["src/long.test.ts"]);
});

test("among tests that are equally near, those named like the changed folder come first", () => {
  const affected = new Map([
    ["test/browser/dashboard-audit.test.ts", 2],
    ["test/browser/dashboard-keys.test.ts", 2],
  ]);
  const choice = { changed: ["src/dashboard/keys/KeyTable.tsx"], durations: {}, processes: 4 };
  assert.equal(chooseWithin(affected, choice).chosen[2], "test/browser/dashboard-keys.test.ts");
});

test("imports are read from the source: each leads to a file", () => {
  const imports = readImports();
  // Some tests contain examples of source code, and client-types.ts writes the client's.
  const sources = [...imports].filter(([path]) => !/\.test\.ts$|\/client-types\.ts$/.test(path));
  const named = sources.flatMap(([path, to]) => to.map((each) => [path, each] as const));
  assert.ok(named.length > 3_000, `${named.length} imports`);
  const missing = named
    .filter(([, to]) => /\.tsx?$/.test(to) && !imports.has(to))
    .map(([from, to]) => `${from}: ${to}`);
  assert.deepEqual(missing, []);
});
