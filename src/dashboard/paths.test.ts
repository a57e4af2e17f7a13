import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DASHBOARD_ADDRESS, ENTRY_PAGES } from "#contract/app/addresses.ts";
import { NEW_ORGANIZATION, pathsOf, toReturnPath } from "./paths.ts";

// routes.tsx can't be loaded outside a browser, so its tables are read as text.
const SOURCE = readFileSync(new URL("routes.tsx", import.meta.url), "utf8");

const ORGANIZATION = "$organization";

test("every path in paths.ts has a screen in routes.tsx, and every screen has a path", () => {
  const inPaths = [
    ...Object.values(ENTRY_PAGES),
    DASHBOARD_ADDRESS,
    NEW_ORGANIZATION,
    ...Object.values(pathsOf(ORGANIZATION)).map((path) => (typeof path === "string" ? path : path("$"))),
  ];
  assert.deepEqual(inPaths.map(withoutIds).toSorted(), readScreens().map(withoutIds).toSorted());
});

test("signing in only redirects to our own pages", () => {
  for (const text of ["/app", "/app/org_1/bookings?search=a", "/invitation?token=x"])
    assert.equal(toReturnPath(text), text);
  for (const text of ["", "/apple", "//evil.example/app", "https://evil.example/app", "/invitation"])
    assert.equal(toReturnPath(text), DASHBOARD_ADDRESS);
});

function readScreens(): string[] {
  const screens = [
    ...readTable("ENTRY_SCREENS").map(([, page]) => ENTRY_PAGES[page as keyof typeof ENTRY_PAGES]),
    ...readTable("PERSON_SCREENS").map(([path]) => `${DASHBOARD_ADDRESS}${path}`),
    ...readTable("ORGANIZATION_SCREENS").map(([path]) => `${DASHBOARD_ADDRESS}/${ORGANIZATION}${path}`),
  ];
  const lazyScreens = SOURCE.match(/lazyScreen\(/g) ?? [];
  assert.equal(screens.length, lazyScreens.length, "this test can't parse how a screen is written");
  return screens.map((path) => path.replace(/\/$/, ""));
}

/** The first cell of each row: a path in quotes, or the name of an entry page. */
function readTable(name: string): [path: string, page: string][] {
  const table = SOURCE.split(`const ${name}`)[1]?.split("\n];")[0] ?? "";
  const rows = table.matchAll(/\[(?:"([^"]*)"|ENTRY_PAGES\.(\w+)),\s+lazyScreen/g);
  return [...rows].map(([, path = "", page = ""]) => [path, page]);
}

/** $reference and similar parameters are all the same here. */
function withoutIds(path: string): string {
  return path.replaceAll(/(?:\$|%24)\w*/g, "{id}");
}
