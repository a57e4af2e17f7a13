import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, describe, test } from "node:test";
import { Value } from "typebox/value";
import { DailyTotal } from "#contract/analytics/analytics.ts";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { createCommandLine } from "../../../test/support/app/cli.ts";
import { makeCaller, type TestCaller } from "../../../test/support/app/read-api.ts";
import { makeBooking, makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { createTestDatabase } from "../../../test/support/database/database.ts";
import { makeHit, SEARCH_AD } from "../../../test/support/funnel/hits.ts";
import { recordHits } from "../analytics/analytics.ts";
import { applyChange } from "../bookings/changes/apply-change.ts";
import { deleteBooking, eraseBookingsByEmail } from "../bookings/stored/erase/erase.ts";
import { inHome } from "../db/statements/transactions.ts";
import { TASKS } from "../worker.ts";
import { EXPORT_TABLES } from "./day-rows.ts";
import { exportDays, exportNightly } from "./export.ts";
import { exportAlone } from "./queries.ts";
import { ExportError } from "./target.ts";

const { app, deps, clock, url } = await createTestApp();
const { db } = deps;
const DAY = "2026-11-01";
const NEXT_DAY = "2026-11-02";
/** Both days are over. */
const LATER = new Date("2026-11-03T12:00:00.000Z");

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bookflow export "));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function book({ owner, widgetId }: Pick<TestCaller, "owner" | "widgetId">, at: string, columns: object = {}) {
  const { reference } = await makeBooking(db, owner, { widgetId, now: new Date(at), ...columns });
  return reference as Reference;
}

/** Runs it as of an instant. Everything else in this file happens on the first day. */
async function exportAt(now: Date, to: string, owner: OrganizationId, from: string | null = null) {
  clock.set(now);
  return await exportDays(deps, { to, owner, from });
}

/** The lines of every file, by its path without the organization. */
function readFiles(folder: string): Record<string, unknown[]> {
  const paths = globSync("**/*", { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    paths
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [
        path.slice(folder.length + 1).replace(/organization_id=\w+\//, ""),
        readFileSync(path, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      ]),
  );
}

function total(views: number, bookings: number, more: Partial<DailyTotal> = {}): DailyTotal {
  const conversionRate = views === 0 ? 0 : bookings / views;
  return { day: DAY, timeZone: "UTC", dimension: "total", key: "total", views, bookings, conversionRate, ...more };
}

describe("an export", () => {
  test("writes bookings, changes, deletions and totals of each finished day, and nothing of today", async () => {
    const caller = await makeCaller(db);
    const folder = makeFolder();
    const kept = await book(caller, `${DAY}T10:00:00.000Z`, { external_id: "b-1", join_url: "https://meet.example/1" });
    const deleted = await book(caller, `${DAY}T11:00:00.000Z`);
    clock.set(new Date(`${NEXT_DAY}T08:00:00.000Z`));
    await deleteBooking(deps, caller.owner, deleted);
    const cancelled = { owner: caller.owner, reference: kept, widgetId: caller.widgetId };
    const change = { ...cancelled, now: { kind: "cancelled" } as const, claim: async () => true };
    await inHome(db, change.owner, (transaction) => applyChange(deps, transaction, change));
    await book(caller, "2026-11-03T10:00:00.000Z");
    const hits = [0, 1].map((visit) => makeHit({ widgetId: caller.widgetId, visit, at: `${DAY}T09:00:00Z` }));
    const booked = makeHit({
      widgetId: caller.widgetId,
      visit: 0,
      at: `${DAY}T10:00:00Z`,
      step: "booking_completed",
    });
    await recordHits(db, [...hits, booked]);

    const exported = await exportAt(LATER, folder, caller.owner);
    assert.deepEqual(exported, { organizations: 1, days: 2, files: 5, busy: 0 });
    const files = readFiles(folder);
    const page = await app.inject({
      url: `/api/v1/bookings?until=${NEXT_DAY}`,
      headers: { authorization: `Bearer ${caller.key}` },
    });
    const { widgetId } = caller;
    assert.deepEqual(Object.keys(files), [
      `bookings/${DAY}.ndjson`,
      `changes/${NEXT_DAY}.ndjson`,
      `daily_totals/${DAY}.ndjson`,
      `daily_totals/${NEXT_DAY}.ndjson`,
      `deletions/${NEXT_DAY}.ndjson`,
    ]);
    assert.deepEqual(files[`bookings/${DAY}.ndjson`], [
      { ...page.json().data[0], widgetId, id: "b-1", joinUrl: "https://meet.example/1" },
    ]);
    const [first] = files[`changes/${NEXT_DAY}.ndjson`] as { reference: string; type: string }[];
    assert.deepEqual([first?.reference, first?.type], [kept, "cancelled"]);
    assert.deepEqual(files[`deletions/${NEXT_DAY}.ndjson`], [
      { reference: deleted, widgetId, reason: "deleted", deletedAt: `${NEXT_DAY}T08:00:00.000Z` },
    ]);
    const rows = files[`daily_totals/${DAY}.ndjson`] as DailyTotal[];
    assert.deepEqual(rows[0], total(2, 1));
    assert.deepEqual(
      rows.find(({ dimension }) => dimension === "widget"),
      total(2, 1, { dimension: "widget", key: widgetId }),
    );
    for (const row of rows) assert.ok(Value.Check(DailyTotal, row), JSON.stringify(row));
    assert.deepEqual(files[`daily_totals/${NEXT_DAY}.ndjson`], [total(0, 0, { day: NEXT_DAY })]);
  });

  test("writes each file once: a later run changes nothing, even if the booking has changed since", async () => {
    const caller = await makeCaller(db);
    const folder = makeFolder();
    const reference = await book(caller, `${DAY}T10:00:00.000Z`);
    await exportAt(LATER, folder, caller.owner);
    const before = readFiles(folder);
    const path = globSync("bookings/**/*.ndjson", { cwd: folder })[0] ?? "";
    const { mtimeMs, ino } = statSync(join(folder, path));

    clock.set(LATER);
    await deleteBooking(deps, caller.owner, reference);
    assert.deepEqual(await exportAt(LATER, folder, caller.owner, "2026-10-01"), {
      organizations: 1,
      days: 31,
      files: 31,
      busy: 0,
    });
    const again = await exportAt(LATER, folder, caller.owner, "2026-10-01");
    assert.deepEqual(again, { organizations: 1, days: 0, files: 0, busy: 0 });
    assert.deepEqual(statSync(join(folder, path)).mtimeMs, mtimeMs);
    assert.deepEqual(statSync(join(folder, path)).ino, ino);
    const after = readFiles(folder);
    for (const [name, rows] of Object.entries(before)) assert.deepEqual(after[name], rows, name);

    // The deletion is in the file of its own day.
    await exportAt(new Date("2026-11-04T02:00:00.000Z"), folder, caller.owner);
    const [deletion] = readFiles(folder)["deletions/2026-11-03.ndjson"] as { reference: string }[];
    assert.equal(deletion?.reference, reference);
  });

  test("waits until a day has been over for an hour, in UTC and in the organization's time zone", async () => {
    const west = { owner: await makeOrganization(db, { timeZone: "America/Los_Angeles" }) };
    const widgetId = await makeWidget(db, west.owner);
    await book({ ...west, widgetId }, `${DAY}T10:00:00.000Z`);
    const folder = makeFolder();
    // Midnight of 2 November in Los Angeles is 08:00 in UTC.
    assert.equal((await exportAt(new Date(`${NEXT_DAY}T08:59:59.000Z`), folder, west.owner)).days, 0);
    assert.equal((await exportAt(new Date(`${NEXT_DAY}T09:00:00.000Z`), folder, west.owner)).days, 1);
    const east = { owner: await makeOrganization(db, { timeZone: "Asia/Tokyo" }) };
    await book({ ...east, widgetId: await makeWidget(db, east.owner) }, `${DAY}T10:00:00.000Z`);
    const other = makeFolder();
    assert.equal((await exportAt(new Date(`${NEXT_DAY}T00:59:59.000Z`), other, east.owner)).days, 0);
    assert.equal((await exportAt(new Date(`${NEXT_DAY}T01:00:00.000Z`), other, east.owner)).days, 1);
  });

  test("counts totals in the organization's time zone, and lists every dimension", async () => {
    const owner = await makeOrganization(db, { timeZone: "Asia/Tokyo" });
    const widgetId = await makeWidget(db, owner);
    // 16:00 in UTC is 01:00 of the next day in Tokyo.
    await recordHits(db, [makeHit({ widgetId, visit: 0, at: "2026-10-31T16:00:00Z", class: SEARCH_AD })]);
    const folder = makeFolder();
    await exportAt(LATER, folder, owner);
    const files = readFiles(folder);
    assert.equal(files["daily_totals/2026-10-31.ndjson"], undefined);
    const rows = files[`daily_totals/${DAY}.ndjson`] as DailyTotal[];
    assert.deepEqual(
      rows.map(({ dimension, key, views, timeZone }) => [dimension, key, views, timeZone]),
      [
        ["total", "total", 1, "Asia/Tokyo"],
        ["channel", "Paid Search", 1, "Asia/Tokyo"],
        ["source", "google / cpc", 1, "Asia/Tokyo"],
        ["campaign", "Autumn", 1, "Asia/Tokyo"],
        ["page", "https://example.com/book", 1, "Asia/Tokyo"],
        ["device", "mobile", 1, "Asia/Tokyo"],
        ["country", "DE", 1, "Asia/Tokyo"],
        ["widget", widgetId, 1, "Asia/Tokyo"],
      ],
    );
  });

  test("fills a gap if someone deleted a day's totals, and writes only what is missing", async () => {
    const caller = await makeCaller(db);
    await book(caller, `${DAY}T10:00:00.000Z`);
    const folder = makeFolder();
    await exportAt(new Date("2026-11-05T12:00:00.000Z"), folder, caller.owner);
    const before = readFiles(folder);
    rmSync(join(folder, `daily_totals/organization_id=${caller.owner}/${NEXT_DAY}.ndjson`));
    const exported = await exportAt(new Date("2026-11-05T12:00:00.000Z"), folder, caller.owner);
    assert.deepEqual(exported, { organizations: 1, days: 1, files: 1, busy: 0 });
    assert.deepEqual(readFiles(folder), before);
  });

  test("begins with the oldest day that the plan keeps in full", async () => {
    const caller = await makeCaller(db);
    for (const at of ["2024-10-20", "2024-11-03", "2024-11-04"]) await book(caller, `${at}T13:00:00.000Z`);
    const folder = makeFolder();
    const stopping = new AbortController();
    clock.set(LATER);
    const signal = { signal: stopping.signal, onDay: (days: number) => days === 2 && stopping.abort() };
    await exportDays(deps, { to: folder, owner: caller.owner, from: "2024-01-01", ...signal });
    assert.deepEqual(Object.keys(readFiles(folder)), [
      "bookings/2024-11-04.ndjson",
      "daily_totals/2024-11-04.ndjson",
      "daily_totals/2024-11-05.ndjson",
    ]);
  });

  test("contains nobody who was erased before", async () => {
    const caller = await makeCaller(db);
    await book(caller, `${DAY}T10:00:00.000Z`, { customer_email: "erased@example.com" });
    await book(caller, `${DAY}T11:00:00.000Z`, { customer_email: "kept@example.com" });
    const folder = makeFolder();
    // What a run that was killed before the erasure left behind.
    await exportAt(new Date(`${NEXT_DAY}T02:00:00.000Z`), folder, caller.owner, NEXT_DAY);
    const bookings = join(folder, `bookings/organization_id=${caller.owner}`);
    execFileSync("mkdir", ["-p", bookings]);
    writeFileSync(join(bookings, `.${DAY}.ndjson.partial`), '{"customer":{"email":"erased@exam');
    clock.set(LATER);
    await eraseBookingsByEmail(deps, caller.owner, "erased@example.com");
    await exportAt(LATER, folder, caller.owner, DAY);
    const paths = globSync("**/*", { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
    const text = paths.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")).join("");
    assert.match(text, /kept@example\.com/);
    assert.doesNotMatch(text, /erased@exam/);
    assert.deepEqual(readdirSync(bookings), [`${DAY}.ndjson`]);
  });

  test("removes a part that was left behind even if nothing is left to write", async () => {
    const caller = await makeCaller(db);
    const folder = makeFolder();
    const bookings = join(folder, `bookings/organization_id=${caller.owner}`);
    execFileSync("mkdir", ["-p", bookings]);
    writeFileSync(join(bookings, `.${DAY}.ndjson.partial`), "{");
    await exportAt(LATER, folder, caller.owner, DAY);
    assert.deepEqual(readdirSync(bookings), []);
  });

  test("covers only organizations on the Business plan", async () => {
    const { db: other, url: otherUrl } = await createTestDatabase();
    const owners: OrganizationId[] = [];
    for (const plan of ["free", "pro", "business", "business"] as const) {
      const owner = await makeOrganization(other, { plan });
      await makeBooking(other, owner, {
        widgetId: await makeWidget(other, owner),
        now: new Date("2026-11-01T09:00:00Z"),
      });
      owners.push(owner);
    }
    const folder = makeFolder();
    const cli = createCommandLine({ DATABASE_URL: otherUrl });
    const from = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
    const outcome = await cli.runInside(["export", "--to", folder, "--from", from, "--json"]);
    assert.deepEqual([outcome.code, outcome.stderr, JSON.parse(outcome.stdout).organizations], [0, "", 2]);
    assert.deepEqual(
      readdirSync(join(folder, "daily_totals")).sort(),
      owners
        .slice(2)
        .map((owner) => `organization_id=${owner}`)
        .sort(),
    );
    const free = await cli.runInside(["export", "--to", folder, "--org", owners[0] ?? ""]);
    const sentence = `${owners[0]} isn't on the Business plan, which exports require.\n`;
    assert.deepEqual(free, { code: 2, stdout: "", stderr: sentence });
  });

  test("gives a file of bookings that `import bookings` reads, without losing anything", async () => {
    const caller = await makeCaller(db);
    await book(caller, `${DAY}T10:00:00.000Z`, { external_id: "b-1", manage_url: "https://s.example/m" });
    await book(caller, `${DAY}T11:00:00.000Z`, { customer_phone: "+49 30 1", join_url: "https://meet.example/2" });
    const folder = makeFolder();
    await exportAt(LATER, folder, caller.owner);
    const before = readFiles(folder)[`bookings/${DAY}.ndjson`];
    const path = join(folder, `bookings/organization_id=${caller.owner}/${DAY}.ndjson`);
    await db.deleteFrom("bookings").where("organization_id", "=", caller.owner).execute();
    await db.deleteFrom("booking_references").where("organization_id", "=", caller.owner).execute();
    const cli = createCommandLine({ DATABASE_URL: url });
    const outcome = await cli.runInside(["import", "bookings", "--org", caller.owner, path]);
    assert.deepEqual(outcome, { code: 0, stdout: "Imported 2 bookings; 0 already existed.\n", stderr: "" });
    const other = makeFolder();
    await exportAt(LATER, other, caller.owner);
    assert.deepEqual(readFiles(other)[`bookings/${DAY}.ndjson`], before);
  });

  test("leaves an organization to the process that is exporting it", async () => {
    const caller = await makeCaller(db);
    await book(caller, `${DAY}T10:00:00.000Z`);
    const folder = makeFolder();
    const isOurs = await exportAlone(db, caller.owner, async () => {
      // However the target is written.
      for (const to of [folder, `${folder}/`, relative(process.cwd(), folder)]) {
        const exported = await exportAt(LATER, to, caller.owner);
        assert.deepEqual(exported, { organizations: 1, days: 0, files: 0, busy: 1 });
      }
    });
    assert.ok(isOurs);
    assert.deepEqual(readFiles(folder), {});
    assert.equal((await exportAt(LATER, folder, caller.owner)).busy, 0);
  });

  test("a failure in one organization doesn't stop the others, and is reported", async () => {
    const { deps: own, clock: ownClock, lines } = await createTestApp();
    const [broken, whole] = [await makeOrganization(own.db), await makeOrganization(own.db)];
    for (const owner of [broken, whole])
      await makeBooking(own.db, owner, {
        widgetId: await makeWidget(own.db, owner),
        now: new Date(`${DAY}T10:00:00Z`),
      });
    await own.db.deleteFrom("visit_progress").where("organization_id", "=", broken).execute();
    const folder = makeFolder();
    ownClock.set(LATER);
    await assert.rejects(exportDays(own, { to: folder }), /^Error: Organizations that could not be exported: 1$/);
    assert.deepEqual(readdirSync(join(folder, "daily_totals")), [`organization_id=${whole}`]);
    assert.equal(
      lines.filter((line) => line.includes("export.organization_failed") && line.includes(broken)).length,
      1,
    );
  });
});

describe("a target that can't be used", () => {
  test("is reported in one sentence, and nothing is left of the file", async () => {
    const caller = await makeCaller(db);
    await book(caller, `${DAY}T10:00:00.000Z`);
    const file = join(makeFolder(), "a-file");
    writeFileSync(file, "");
    const cli = createCommandLine({ DATABASE_URL: url });
    const outcome = await cli.runInside(["export", "--to", file, "--org", caller.owner]);
    const sentence = `Can't write to ${file}: not a directory (ENOTDIR).\n`;
    assert.deepEqual(outcome, { code: 1, stdout: "", stderr: sentence });
  });

  const disk = mountSmallDisk();
  test("a full disk is reported, and the next run continues once there is room", { skip: disk === null }, async () => {
    const caller = await makeCaller(db);
    for (let i = 0; i < 8; i++) await book(caller, `${DAY}T10:00:0${i}.000Z`, { customer_notes: "x".repeat(50_000) });
    const ballast = join(disk ?? "", "ballast");
    writeFileSync(ballast, Buffer.alloc(800 * 1024));
    const error = await exportAt(LATER, disk ?? "", caller.owner).catch((thrown) => thrown);
    assert.ok(error instanceof ExportError);
    assert.equal(error.message, `Can't write to ${disk}: no space left on device (ENOSPC).`);
    assert.deepEqual(Object.keys(globSync("**/*ndjson*", { cwd: disk ?? "" })), []);
    rmSync(ballast);
    assert.equal((await exportAt(LATER, disk ?? "", caller.owner)).days, 2);
    assert.equal(readFiles(disk ?? "")[`bookings/${DAY}.ndjson`]?.length, 8);
  });

  test("is refused as a setting or an option if it is neither a folder nor a bucket", async () => {
    const cli = createCommandLine({ DATABASE_URL: url });
    const sentence = "--to must be a folder or s3://BUCKET/PREFIX.\n";
    for (const to of ["", " ", "https://example.com/x", "s3://", "s3://No_Bucket/x", "gs://bucket"])
      assert.deepEqual(await cli.runInside(["export", "--to", to]), { code: 2, stdout: "", stderr: sentence });
    const wrong = createCommandLine({ DATABASE_URL: url, EXPORT_TO: "ftp://x" });
    const heading = "Bookflow can't start. Fix these settings:";
    const fault = 'EXPORT_TO must be a folder, or s3://BUCKET/PREFIX, not "ftp://x"';
    assert.deepEqual((await wrong.runInside(["org", "list"])).stderr, `${heading}\n${fault}\n`);
    const day = await cli.runInside(["export", "--to", "/tmp", "--from", "2026-02-30"]);
    assert.equal(day.stderr, "--from must be a day such as 2026-11-01.\n");
  });
});

test("the guide names the files as they are written", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../docs/exports.md"), "utf8");
  const [, files = ""] = /```text\n(.*?)```/s.exec(guide) ?? [];
  const name = "organization_id=org_7HqWmZ3kTr9sXfB2/2026-11-01.ndjson";
  assert.equal(
    files,
    Object.keys(EXPORT_TABLES)
      .map((table) => `${table}/${name}\n`)
      .join(""),
  );
});

describe("every night", () => {
  test("the task exports to the target that the operator has set, and otherwise does nothing", async () => {
    const folder = makeFolder();
    const { deps: own, clock: ownClock } = await createTestApp({ exportTo: folder });
    const owner = await makeOrganization(own.db);
    await makeBooking(own.db, owner, { widgetId: await makeWidget(own.db, owner), now: new Date(`${DAY}T10:00:00Z`) });
    const { signal } = new AbortController();
    ownClock.set(LATER);
    await exportNightly({ ...own, config: { ...own.config, exportTo: null } }, signal);
    assert.deepEqual(readFiles(folder), {});
    const task = TASKS.find(({ name }) => name === "export");
    await task?.run(own, signal);
    assert.deepEqual(Object.keys(readFiles(folder)), [
      `bookings/${DAY}.ndjson`,
      `daily_totals/${DAY}.ndjson`,
      `daily_totals/${NEXT_DAY}.ndjson`,
    ]);
    await assert.rejects(exportNightly({ ...own, config: { ...own.config, exportTo: "/dev/null/x" } }, signal), {
      name: "ExportError",
    });
  });
});

/** A disk of one megabyte; null where mounting isn't allowed. */
function mountSmallDisk(): string | null {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-disk-"));
  let isMounted = true;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    isMounted = false;
  }
  after(() => {
    if (isMounted) execFileSync("umount", [folder]);
    rmSync(folder, { recursive: true });
  });
  return isMounted ? folder : null;
}
