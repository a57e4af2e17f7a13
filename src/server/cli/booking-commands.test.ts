import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { Reference } from "#contract/ids.ts";
import { TEST_SECRET_KEY } from "../../../test/support/app/app.ts";
import { createCommandLine } from "../../../test/support/app/cli.ts";
import { noAudit } from "../../../test/support/app/no-audit.ts";
import { makeBooking, makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import {
  addCalcomBooking,
  cancelCalcomBooking,
  findCalcomBooking,
  moveCalcomBooking,
} from "../../../test/support/scheduler/calcom/calcom-changes.ts";
import { startCalcomServer } from "../../../test/support/scheduler/calcom/calcom-server.ts";
import { createOpenDeps } from "../../../test/support/scheduler/open-deps.ts";
import { addConnection } from "../scheduler/connections/connections.ts";

// The command line uses the real time.

const { deps, url } = await createOpenDeps();
const { db } = deps;
const cli = createCommandLine({ DATABASE_URL: url, SECRET_KEY: TEST_SECRET_KEY, WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" });
const run = (...words: string[]) => cli.runInside(["booking", ...words]);
const server = await startCalcomServer();
after(() => server.stop());
const owner = await makeOrganization(db, { plan: "business" });
const widgetId = await makeWidget(db, owner);
const added = await addConnection(deps, owner, { kind: "calcom", name: "Practice", ...server.parts }, noAudit);
assert.ok(added.kind === "added", added.kind);
const now = new Date();

let made = 0;

async function book(): Promise<Reference> {
  const startAt = new Date(now.getTime() + (10 + made++) * DAY_MS);
  const endAt = new Date(startAt.getTime() + 30 * MINUTE_MS);
  const { reference } = await makeBooking(db, owner, {
    widgetId,
    now,
    asked_in: added.kind === "added" ? added.id : null,
    external_id: `uid${made}`,
    service_id: "10",
    start_at: startAt,
    end_at: endAt,
    attribution: JSON.stringify({ source: "google" }),
  });
  addCalcomBooking(server.bookings, { reference, uid: `uid${made}`, startAt, endAt, updatedAt: now });
  return reference as Reference;
}

const [kept, cancelled, moved] = [await book(), await book(), await book()];

test("booking check asks the scheduling system, applies what it says, and shows the history", async () => {
  const unchanged = await run("check", kept);
  assert.deepEqual([unchanged.code, unchanged.stdout.split("\n")[0]], [0, "The stored booking is up to date."]);
  cancelCalcomBooking(server.bookings, findCalcomBooking(server.bookings, cancelled));
  const first = await run("check", cancelled);
  assert.equal(first.code, 0, first.stderr);
  assert.match(
    first.stdout,
    new RegExp(
      `^The appointment had changed\\. .*\\n${cancelled} {2}cancelled {2}\\S+\\n\\S+ {2}${cancelled} {2}cancelled\\n$`,
    ),
  );
  assert.match((await run("check", cancelled)).stdout, /^The stored booking is up to date\.\n/);
  const later = new Date(now.getTime() + 40 * DAY_MS);
  moveCalcomBooking(server.bookings, findCalcomBooking(server.bookings, moved), later);
  const { stdout } = await run("check", moved, "--json");
  const { outcome, status, start, changes } = JSON.parse(stdout);
  assert.deepEqual([outcome, status, start, changes.length], ["changed", "confirmed", later.toISOString(), 1]);
});

test("booking check changes nothing if the system doesn't answer or doesn't know the appointment", async () => {
  server.injectFault("GET /bookings", ...Array(5).fill({ reply: { status: 503, json: {} } }));
  const silent = await run("check", kept);
  assert.deepEqual([silent.code, silent.stdout.split("\n")[1]?.split("  ")[1]], [1, "confirmed"]);
  const { reference } = await makeBooking(db, owner, { widgetId, now });
  assert.match((await run("check", reference)).stdout, /^The scheduling system doesn't know this appointment/);
  for (const unknown of ["SVC-222222", "everything"])
    assert.deepEqual(await run("check", unknown), {
      code: 2,
      stdout: "",
      stderr: "No stored booking has this reference.\n",
    });
});

test("booking list filters by status and prints nobody's name", async () => {
  const { stdout } = await run("list", "--org", owner, "--status", "cancelled");
  assert.match(stdout, new RegExp(`^\\S+ {2}${cancelled} {2}cancelled {2}\\S+ {2}Check-up\\n$`));
  const all = await run("list", "--org", owner, "--search", "mara", "--widget", widgetId);
  assert.equal(all.stdout.trim().split("\n").length, 4);
  assert.doesNotMatch(all.stdout, /mara/i);
  assert.equal((await run("list", "--org", owner, "--to", "2026-01-01")).stdout, "No bookings.\n");
  const other = await makeOrganization(db);
  assert.equal((await run("list", "--org", other)).stdout, "No bookings.\n");
  assert.deepEqual(await run("list", "--org", owner, "--status", "lost"), {
    code: 2,
    stdout: "",
    stderr: "--status must be one of confirmed, cancelled.\n",
  });
});

test("booking changes and booking sources tell what became of the bookings", async () => {
  const changes = (await run("changes", "--org", owner)).stdout.trim().split("\n");
  assert.match(changes[0] ?? "", new RegExp(`  ${moved}  moved from \\S+ to \\S+$`));
  assert.match(changes[1] ?? "", new RegExp(`  ${cancelled}  cancelled$`));
  assert.equal(changes.length, 2);
  const tomorrow = new Date(now.getTime() + DAY_MS).toISOString();
  assert.equal((await run("changes", "--org", owner, "--since", tomorrow)).stdout, "No changes.\n");
  assert.equal(
    (await run("sources", "--org", owner)).stdout,
    "all sources  4 booked, 1 cancelled, 1 moved, 3 kept\ngoogle  3 booked, 1 cancelled, 1 moved, 2 kept\nno source  1 booked, 0 cancelled, 0 moved, 1 kept\n",
  );
});
