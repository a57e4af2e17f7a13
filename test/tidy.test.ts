import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  findBannedFileNames,
  findBannedInTests,
  findBannedTexts,
  findDeadExports,
  findDeadFiles,
  findDeadMembers,
  findFullFolders,
  findImportFaults,
  findLongFiles,
  findLongFunctions,
  type SourceFiles,
} from "./support/repository/tidy.ts";
import { ALLOWED_IMPORTS } from "./support/repository/tidy-rules.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = readFiles(["src/**/*.{ts,tsx}", "migrations/*.sql"]);
const users = readFiles(["{bench,faults,scripts,test}/**/*.{ts,tsx}"]);
const tests = readFiles(["src/**/*.test.{ts,tsx}", "test/**/*.ts"]);
tests.delete("test/tidy.test.ts");

function readFiles(patterns: string[]): Map<string, string> {
  const paths = globSync(patterns, { cwd: root }).map((path) => path.replaceAll("\\", "/"));
  return new Map(paths.sort().map((path) => [path, readFileSync(`${root}/${path}`, "utf8")]));
}

describe("the code follows its rules", () => {
  test("imports point in the allowed direction", () => assert.deepEqual(findImportFaults(source), []));
  test("time, randomness, network and environment are used where they belong", () =>
    assert.deepEqual(findBannedTexts(source), []));
  test("no test waits for a fixed time, or has a limit of its own", () =>
    assert.deepEqual(findBannedInTests(tests), []));
  test("no file is too long to read in one go", () =>
    assert.deepEqual(findLongFiles(new Map([...source, ...users])), []));
  test("no function is too long to take in at a glance", () => {
    // Tests' conformance suites and stand-in servers are one function each.
    const others = [...users].filter(([path]) => !path.startsWith("test/"));
    assert.deepEqual(findLongFunctions(new Map([...source, ...others])), []);
  });
  test("no folder holds more than one can take in at a glance", () => {
    const paths = globSync("{src,test,scripts,bench,faults,sdk,connectors,migrations}/**/*.*", {
      cwd: root,
      exclude: ["**/node_modules", "**/dist"],
    });
    assert.deepEqual(findFullFolders(paths.map((path) => path.replaceAll("\\", "/"))), []);
  });
  test("every file is named for its content", () => {
    const paths = globSync("{src,test,scripts,bench,sdk}/**/*.*", {
      cwd: root,
      exclude: ["**/node_modules", "sdk/dist"],
    });
    assert.deepEqual(findBannedFileNames(paths.map((path) => path.replaceAll("\\", "/"))), []);
  });
  test("every file is used", () => assert.deepEqual(findDeadFiles(source), []));
  test("every export is used elsewhere", () => assert.deepEqual(findDeadExports(source, users), []));
  test("every method and field is used elsewhere", () => assert.deepEqual(findDeadMembers(source, users), []));
  test("the source files were found", () => assert.ok(source.size > 50));
});

/** Runs one check on one file and returns its findings, without the file's path. */
function check(find: (files: SourceFiles) => string[], path: string, text: string): string[] {
  return find(new Map([[path, text]])).map((fault) => fault.replace(`${path} `, ""));
}

describe("imports in the wrong direction are found", () => {
  // biome-ignore format: one case a line
  const cases: [path: string, text: string, fault: string][] = [
    ["src/contract/bookings/booking.ts", 'import { z } from "zod";', "must not import the package zod"],
    ["src/contract/bookings/booking.ts", 'import { join } from "node:path";', "must not import the package node:path"],
    ["src/contract/bookings/booking.ts", 'import type { Db } from "../../server/db/connections/pool.ts";', "must not import src/server/db/connections/pool.ts"],
    ["src/server/lib/time/clock.ts", 'import type { Db } from "../../db/connections/pool.ts";', "must not import src/server/db/connections/pool.ts"],
    ["src/server/lib/time/clock.ts", 'import { parseConfig } from "../../config.ts";', "must not import src/server/config.ts"],
    ["src/server/db/connections/pool.ts", 'import { ApiError } from "../../http/errors/api-error.ts";', "must not import src/server/http/errors/api-error.ts"],
    ["src/server/http/listen.ts", 'import { openPool } from "../db/connections/pool.ts";', "must not import src/server/db/connections/pool.ts"],
    ["src/server/http/listen.ts", 'import {\n  a,\n  b,\n} from "../bookings/queries.ts";', "must not import src/server/bookings/queries.ts"],
    ["src/server/bookings/import.ts", 'import { findWidget } from "../widgets/queries.ts";', "must not import src/server/widgets/queries.ts"],
    ["src/server/webhooks/event.ts", 'import { insertBooking } from "../bookings/queries.ts";', "must not import src/server/bookings/queries.ts"],
    ["src/server/webhooks/event.ts", 'export { x } from "../bookings/queries.ts";', "must not import src/server/bookings/queries.ts"],
    ["src/server/webhooks/event.ts", 'const x = await import("../bookings/queries.ts");', "must not import src/server/bookings/queries.ts"],
    ["src/server/webhooks/event.ts", 'import "../app.ts";', "must not import src/server/app.ts"],
    ["src/server/worker.ts", 'import { readRoutes } from "./bookings/read-routes.ts";', "must not import src/server/bookings/read-routes.ts"],
    ["src/server/cli/run.ts", 'import { bookingReadRoutes } from "../bookings/read-routes.ts";', "must not import src/server/bookings/read-routes.ts"],
    ["src/server/bookings/import.ts", 'import pg from "pg";', "must not import the package pg"],
    ["src/server/bookings/import.ts", 'import { fetch } from "undici";', "must not import the package undici"],
    ["src/server/bookings/import.ts", 'import assert from "node:assert/strict";', "must not import the package node:assert/strict"],
    ["src/server/webhooks/event.ts", 'import { r } from "../../../test/support/webhooks/receiver.ts";', "must not import test/support/webhooks/receiver.ts"],
    ["src/dashboard/main.tsx", 'import { x } from "../server/lib/time/calendar.ts";', "must not import src/server/lib/time/calendar.ts"],
    ["src/widget/loader/loader.ts", 'import { x } from "../../dashboard/paths.ts";', "must not import src/dashboard/paths.ts"],
    ["src/server/payments/pay.ts", "", "is in a folder that ALLOWED_IMPORTS does not list"],
  ];
  for (const [path, text, fault] of cases) {
    test(`${path}: ${text.replaceAll("\n", " ")}`, () =>
      assert.deepEqual(check(findImportFaults, path, text), [fault]));
  }

  test("imports in the right direction are accepted", () => {
    const files = new Map([
      ["src/contract/bookings/booking.ts", 'import { Type } from "typebox";\nimport { x } from "./ids.ts";'],
      [
        "src/server/bookings/import.ts",
        'import type { Id } from "#contract/ids.ts";\nimport { x } from "../lib/log/log.ts";',
      ],
      ["src/server/app.ts", 'import { x } from "./bookings/read-routes.ts";'],
      ["src/server/db/connections/pool.ts", 'import pg from "pg";'],
      ["src/server/bookings/import.test.ts", 'import pg from "pg";\nimport { x } from "../widgets/queries.ts";'],
    ]);
    assert.deepEqual(findImportFaults(files), []);
  });

  test("the allowed directions contain no cycle between slices", () => {
    const isSlice = (place: string) => /^src\/server\/(?!lib|db|http|cli)[a-z-]+\//.test(place);
    const toSlice = (place: string) => place.split("/").slice(0, 3).join("/");
    const visit = (name: string, trail: string[]): void => {
      assert.ok(!trail.includes(name), [...trail, name].join(" -> "));
      for (const { from, to } of ALLOWED_IMPORTS.filter(({ from }) => toSlice(from) === name))
        for (const target of to.filter(isSlice)) if (isSlice(from)) visit(toSlice(target), [...trail, name]);
    };
    for (const { from } of ALLOWED_IMPORTS.filter((rule) => isSlice(rule.from))) visit(toSlice(from), []);
  });
});

describe("banned texts are found", () => {
  const path = "src/server/bookings/import.ts";
  // biome-ignore format: one case a line
  const cases: [text: string, fault: string][] = [
    ["const at = Date.now();", "holds Date.now: take the time from deps.clock"],
    ["const at = new Date();", "holds new Date(): take the time from deps.clock"],
    ["const x = Math.random();", "holds Math.random: take randomness from deps.random"],
    ['import { randomBytes } from "node:crypto";', "holds randomBytes: take randomness from deps.random"],
    ["const id = crypto.randomUUID();", "holds randomUUID: take randomness from deps.random"],
    ['import { setTimeout as sleep } from "node:timers/promises";', "holds setTimeout: wait with lib/concurrency/pause.ts"],
    ["setInterval(run, 5);", "holds setInterval: wait with lib/concurrency/pause.ts"],
    ["await fetch(url);", "holds fetch(: send through guarded-send.ts"],
    ['process.env["PORT"]', "holds process.env: add a setting to config.ts"],
    ["sql`select now()`", "holds now(): hand time, ids and randomness to the statement as parameters"],
    ["sql`order by random()`", "holds random(): hand time, ids and randomness to the statement as parameters"],
    ["sql`select UUIDV7()`", "holds UUIDV7(): hand time, ids and randomness to the statement as parameters"],
    ["sql`values (current_timestamp)`", "holds current_timestamp: hand the time to the statement as a parameter"],
    ["sql`select * from widgets`", "holds select *: list the columns"],
    ["sql`delete from widgets returning *`", "holds returning *: list the columns"],
    ['db.selectFrom("widgets").selectAll()', "holds .selectAll(: list the columns"],
    ['db.deleteFrom("widgets").returningAll()', "holds .returningAll(: list the columns"],
    ["await db.transaction().execute(run);", "holds .transaction(): use inTransaction, inHome or inSnapshot"],
    [`// ${"TO"}DO later`, `holds ${"TO"}DO: open an issue`],
    [`/* ${"FIX"}ME */`, `holds ${"FIX"}ME: open an issue`],
  ];
  for (const [text, fault] of cases) {
    test(text, () => assert.deepEqual(check(findBannedTexts, path, text), [fault]));
  }

  test("in migrations too, but not where they are allowed", () => {
    const files = new Map([
      ["migrations/0009_x.sql", "alter table x add y timestamptz default now(); -- not random()"],
      ["src/server/lib/time/clock.ts", "export const systemClock = { now: () => new Date() };"],
      ["src/server/config.ts", "return process.env;"],
      ["src/server/bookings/import.test.ts", "new Date(); Math.random();"],
      [
        "src/server/bookings/record-set.ts",
        "sql`select count(*) from (select * from json_to_recordset(x) as r (id text))`",
      ],
      [path, 'const at = clock.now();\n// new Date() is banned\nconst url = "https://x.example"; new Date(0);'],
    ]);
    assert.deepEqual(findBannedTexts(files), [
      "migrations/0009_x.sql holds now(): hand time, ids and randomness to the statement as parameters",
    ]);
  });
});

describe("what makes a test depend on the machine is found", () => {
  const path = "src/server/bookings/import.test.ts";
  // biome-ignore format: one case a line
  const cases: [text: string, found: string, instead: string][] = [
    ["await sleep(50);", "await sleep(", "wait until something is true (test/support/until.ts)"],
    ["await pause(50);", "await pause(", "wait until something is true (test/support/until.ts)"],
    ["await setTimeout(50);", "await setTimeout(", "wait until something is true (test/support/until.ts)"],
    ["await page.waitForTimeout(50);", "await page.waitForTimeout(", "wait until something is true (test/support/until.ts)"],
    ["await new Promise((resolve) => setTimeout(resolve, 5));", "await new Promise((resolve) => setTimeout(", "wait until something is true (test/support/until.ts)"],
    ['test("x", { timeout: 60_000 }, run);', "timeout: 60_000", "the limit of a file is enough (scripts/test.ts)"],
  ];
  for (const [text, found, instead] of cases) {
    test(text, () => assert.deepEqual(check(findBannedInTests, path, text), [`holds ${found}: ${instead}`]));
  }

  test("but not in words, and not where it is allowed", () => {
    const files = new Map([
      [path, "// await sleep(50);\nawait until(isSo, what);\nawait sql`select pg_sleep(1)`.execute(db);"],
      ["test/support/until.ts", "await new Promise((resolve) => setTimeout(resolve, 5));"],
    ]);
    assert.deepEqual(findBannedInTests(files), []);
  });
});

describe("vague file names are found", () => {
  for (const [path, word] of [
    ["src/server/bookings/booking-utils.ts", "utils"],
    ["src/server/helpers/date.ts", "helpers"],
    ["src/dashboard/widgets/WidgetInfo.tsx", "info"],
    ["test/support/common.ts", "common"],
    ["src/server/lib/misc.test.ts", "misc"],
    ["src/server/webhooks/QueueManager.ts", "manager"],
    ["src/server/cli/data-commands.ts", "data"],
  ] as const) {
    test(path, () =>
      assert.deepEqual(findBannedFileNames([path]), [`${path} is called ${word}: name it for what it holds`]),
    );
  }

  test("but not words that merely contain them", () =>
    assert.deepEqual(
      findBannedFileNames(["src/server/db/database.ts", "src/contract/metadata.ts", "src/uncommon.ts"]),
      [],
    ));
});

describe("long functions are found", () => {
  const path = "src/server/bookings/long.ts";
  const toBody = (lines: number, indent = "  ") => `${indent}x;\n`.repeat(lines);
  /** `lines` counts the function without its body. */
  // biome-ignore format: one case a line
  const cases: { start: string; end: string; name?: string; indent?: string; lines: number }[] = [
    { start: "function long() {", end: "}", lines: 2 },
    { start: "export async function long(db: Db): Promise<void> {", end: "}", lines: 2 },
    { start: "export function long({\n  a,\n}: {\n  a: number;\n}) {", end: "}", lines: 6 },
    { start: "export const long = async (x) => {", end: "};", lines: 2 },
    { start: "const long = (\n  x: number,\n) => {", end: "};", lines: 4 },
    { start: "class Loop {\n  async #long(x: number) {", end: "  }\n}", name: "#long", indent: "    ", lines: 2 },
    { start: "return {\n  async long(x) {", end: "  },\n};", indent: "    ", lines: 2 },
  ];
  for (const { start, end, name = "long", indent, lines } of cases) {
    test(start.replaceAll("\n", " "), () => {
      const find = (length: number) =>
        check((files) => findLongFunctions(files, []), path, `${start}\n${toBody(length - lines, indent)}${end}\n`);
      assert.deepEqual(find(61), [`has ${name} of 61 lines, more than 60`]);
      assert.deepEqual(find(60), []);
    });
  }

  test("but not in tests, and not where a longer one is allowed and still needed", () => {
    const allowed = [{ file: path, linesMax: 80 }];
    const files = (lines: number) =>
      new Map([
        [path, `function long() {\n${toBody(lines - 2)}}\n`],
        ["src/server/bookings/long.test.ts", `function long() {\n${toBody(100)}}\n`],
      ]);
    assert.deepEqual(findLongFunctions(files(80), allowed), []);
    assert.deepEqual(findLongFunctions(files(81), allowed), [`${path} has long of 81 lines, more than 80`]);
    assert.deepEqual(findLongFunctions(files(60), allowed), [`${path} needs no place in LONG_FUNCTIONS`]);
  });
});

describe("long and dead files, and dead exports, are found", () => {
  test("a name that only its own file uses, or that only a file of the same name has, is dead", () => {
    const files = new Map([
      ["src/server/bookings/used.ts", "export const one = 1;\nexport type Two = 2;\nexport async function three() {}"],
      [
        "src/server/bookings/dead.ts",
        "export type One = 1;\nconst two: One = 1;\nexport class Three {}\nexport const four = 4;",
      ],
      ["src/server/bookings/all.ts", "export const five = 5;"],
      [
        "src/server/bookings/user.ts",
        'import {\n  one as uno,\n  type Two,\n} from "./used.ts";\nimport * as all from "./all.ts";',
      ],
      ["src/server/cli/dead.ts", "export const four = 4;"],
    ]);
    const users = new Map([
      [
        "bench/run.ts",
        'import { four } from "../src/server/cli/dead.ts";\nconst { three } = await import("../src/server/bookings/used.ts");',
      ],
    ]);
    assert.deepEqual(findDeadExports(files, users), [
      "src/server/bookings/dead.ts exports One, which nothing imports",
      "src/server/bookings/dead.ts exports Three, which nothing imports",
      "src/server/bookings/dead.ts exports four, which nothing imports",
    ]);
  });

  test("a member that only its own class has is dead, unless another class may call it", () => {
    const files = new Map([
      [
        "src/server/bookings/loop.ts",
        "export class Loop<Row> {\n  #running = 1;\n  readonly width = 1;\n  constructor(row: Row) {}\n  async start(): Promise<void> {}\n  get size() {\n    return 1;\n  }\n  stop() {\n    dead();\n  }\n}",
      ],
      ["src/server/bookings/sized.ts", "class Sized extends Set {\n  size() {}\n  widthOf() {}\n}"],
      ["src/server/bookings/dead.ts", "class Dead {\n  start() {}\n  // Nothing calls dying.\n  dying() {}\n}"],
    ]);
    const users = new Map([["bench/run.ts", "new Loop().start();\nconst { width } = loop;"]]);
    assert.deepEqual(findDeadMembers(files, users), [
      "src/server/bookings/loop.ts has the member stop, which nothing uses",
      "src/server/bookings/dead.ts has the member dying, which nothing uses",
    ]);
  });

  test("a folder of 21 files is too full, one of 20 is not, and tests and migrations don't count", () => {
    const list = (folder: string, count: number, ending: string) =>
      Array.from({ length: count }, (_, n) => `${folder}/${n}${ending}`);
    assert.deepEqual(
      findFullFolders([
        ...list("src/server/bookings", 21, ".ts"),
        ...list("src/server/widgets", 20, ".ts"),
        ...list("src/server/widgets", 20, ".test.ts"),
        ...list("migrations", 40, ".sql"),
      ]),
      ["src/server/bookings has 21 files, more than 20: give its parts folders"],
    );
  });

  test("a file of 351 lines is too long, one of 350 is not, and a test may have any length", () => {
    const files = new Map([
      ["src/server/bookings/long.ts", "x;\n".repeat(351)],
      ["src/server/bookings/short.ts", "x;\n".repeat(350)],
      ["src/server/bookings/long.test.ts", "x;\n".repeat(2_000)],
    ]);
    assert.deepEqual(findLongFiles(files), ["src/server/bookings/long.ts has 351 lines, more than 350"]);
  });

  test("a file that only its test, or only another dead file, uses is dead", () => {
    const files = new Map([
      ["src/server/main.ts", 'import { a } from "./bookings/used.ts";'],
      ["src/server/bookings/used.ts", 'import type { Id } from "#contract/ids.ts";'],
      ["src/contract/ids.ts", ""],
      ["src/server/bookings/dead.ts", 'import { b } from "./deader.ts";'],
      ["src/server/bookings/deader.ts", 'import { a } from "./used.ts";'],
      ["src/server/bookings/dead.test.ts", 'import { a } from "./dead.ts";'],
    ]);
    assert.deepEqual(findDeadFiles(files), [
      "src/server/bookings/dead.ts is used by nothing",
      "src/server/bookings/deader.ts is used by nothing",
    ]);
  });
});
