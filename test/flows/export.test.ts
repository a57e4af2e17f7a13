import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { openLongRunningDb } from "../../src/server/db/connections/pool.ts";
import { createCommandLine, type Outcome } from "../support/app/cli.ts";
import { makeBooking, makeOrganization, makeWidget } from "../support/builders.ts";
import { createTestDatabase } from "../support/database/database.ts";
import { CLEAN_ENVIRONMENT } from "../support/programs/clean-environment.ts";
import { findFreePort } from "../support/programs/free-port.ts";
import { startS3Server } from "../support/programs/s3-server.ts";
import { until } from "../support/until.ts";

// `bookflow export` as the operator runs it: processes that are killed or run at the same time, a large day, and buckets.

const PROGRAM = fileURLToPath(new URL("../../src/server/cli/main.ts", import.meta.url));
const { db, url, pool } = await createTestDatabase();
const longRunningDb = openLongRunningDb(pool);
const s3 = await startS3Server();

/** The time of all commands: buckets refuse what was signed long ago. */
const NOW_MS = Date.now();
const STOPPED = `--import ${new URL("../support/programs/stop-clock.ts", import.meta.url).href}`;
const DAY = new Date(NOW_MS - 3 * DAY_MS).toISOString().slice(0, 10);
/** DAY and those after it that are over by an hour. */
const DAYS = Math.floor((NOW_MS - HOUR_MS - Date.parse(DAY)) / DAY_MS);
const STOPPED_AT = { STOPPED_AT_MS: String(NOW_MS) };
const cli = createCommandLine({
  ...STOPPED_AT,
  DATABASE_URL: url,
  AWS_ENDPOINT_URL_S3: s3.endpoint,
  ...s3.environment,
});
const FILE = `${DAY}.ndjson`;

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-export-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function makeOwner(bookings: number): Promise<OrganizationId> {
  const owner = await makeOrganization(db);
  await makeBooking(db, owner, { widgetId: await makeWidget(db, owner), now: new Date(`${DAY}T00:00:00.000Z`) });
  // Copies of the one booking, a millisecond apart, with notes of 2,500 letters.
  await sql`
    insert into bookings (organization_id, reference, created_at, widget_id, status, start_at, end_at, time_zone, service_id, service_name,
      staff, customer_name, customer_email, customer_notes, answers, attribution, is_test, lacks_event, api_json)
    select organization_id, 'SVC-' || lpad(upper(to_hex(copy)), 6, 'Z'), created_at + copy * interval '1 millisecond', widget_id, status,
      start_at, end_at, time_zone, service_id, service_name, staff, customer_name, customer_email, repeat('x', 2500), answers,
      attribution, is_test, lacks_event, api_json
    from bookings, generate_series(1, ${bookings - 1}::integer) as copy where organization_id = ${owner}`.execute(
    longRunningDb,
  );
  return owner;
}

function exportTo(to: string, owner: string, settings: Record<string, string> = {}): Promise<Outcome> {
  return cli.run(["export", "--to", to, "--org", owner], { settings, nodeOptions: STOPPED });
}

/** All days, each with totals; one has bookings too. */
const WROTE_ALL: Outcome = {
  code: 0,
  stdout: `Wrote ${DAYS + 1} files about ${DAYS} days of 1 organization.\n`,
  stderr: "",
};

function start(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, "export", ...args], {
    env: {
      ...CLEAN_ENVIRONMENT,
      NODE_OPTIONS: `${CLEAN_ENVIRONMENT.NODE_OPTIONS} ${STOPPED}`,
      ...STOPPED_AT,
      ...s3.environment,
      DATABASE_URL: url,
      AWS_ENDPOINT_URL_S3: s3.endpoint,
      SECRET_KEY: "a secret key for tests, of 32 characters and more",
    },
    stdio: "ignore",
  });
  after(() => child.kill("SIGKILL"));
  return child;
}

/** More than fits into the memory of a program with a small heap. */
const LARGE = 25_000;
/** Takes long enough to be killed in the middle, and several parts of a bucket. */
const SOME = 8_000;
// Nothing is searched here, and copies are made several times as fast without this index.
await sql`drop index bookings_search`.execute(db);
const some = await makeOwner(SOME);

describe("a day with many bookings", () => {
  test("is written in little memory", async () => {
    const folder = makeFolder();
    const options = { nodeOptions: `--max-old-space-size=80 ${STOPPED}` };
    const large = await makeOwner(LARGE);
    const outcome = await cli.run(["export", "--to", folder, "--org", large], options);
    assert.deepEqual(outcome, WROTE_ALL);
    const text = readFileSync(join(folder, `bookings/organization_id=${large}/${FILE}`), "utf8");
    const lines = text.trimEnd().split("\n");
    assert.equal(new Set(lines.map((line) => JSON.parse(line).reference)).size, LARGE);
    assert.ok(text.length > 50 * 2 ** 20, "more than fits into the memory of the program");
  });

  test("is invisible until it is whole: killed in the middle, the next run writes it", async () => {
    const folder = makeFolder();
    const home = join(folder, `bookings/organization_id=${some}`);
    const child = start(["--to", folder, "--org", some]);
    const partial = `.${FILE}.partial`;
    await untilThere(() => existsSync(join(home, partial)), child);
    await killNow(child);
    assert.deepEqual(readdirSync(home), [partial]);
    assert.deepEqual(globSync("**/*.ndjson", { cwd: folder }), []);

    assert.deepEqual(await exportTo(folder, some), WROTE_ALL);
    assert.deepEqual(readdirSync(home), [FILE]);
    assert.equal(readFileSync(join(home, FILE), "utf8").trimEnd().split("\n").length, SOME);
  });

  test("is written once by two processes at the same time", async () => {
    const folder = makeFolder();
    const both = await Promise.all([exportTo(folder, some), exportTo(folder, some)]);
    // Whichever came second found the first at work, or everything done.
    const [first, second] = both.sort((a, b) => b.stdout.length - a.stdout.length || (a.code ?? 0) - (b.code ?? 0));
    const said = both.map(({ stdout }) => stdout);
    assert.ok(said.includes(WROTE_ALL.stdout), said.join());
    assert.deepEqual([first?.stderr, second?.stderr], ["", ""]);
    assert.ok(
      said.some((text) => /^Wrote 0 files/.test(text)),
      said.join(),
    );
    assert.equal(globSync("**/*.ndjson", { cwd: folder }).length, DAYS + 1);
    const text = readFileSync(join(folder, `bookings/organization_id=${some}/${FILE}`), "utf8");
    assert.equal(text.trimEnd().split("\n").length, SOME);
  });

  test("goes to a bucket in parts, and appears there when it is whole, though a run was killed in the middle", async () => {
    await s3.makeBucket("large");
    const child = start(["--to", "s3://large", "--org", some]);
    await untilThere(() => globSync("large/._S3rver_uploads/*/1", { cwd: s3.directory }).length > 0, child);
    await killNow(child);
    assert.deepEqual(await s3.read("large"), {});

    assert.deepEqual(await exportTo("s3://large", some), WROTE_ALL);
    const objects = await s3.read("large");
    assert.equal(Object.keys(objects).length, DAYS + 1);
    assert.equal(objects[`bookings/organization_id=${some}/${FILE}`]?.trimEnd().split("\n").length, SOME);
  });
});

describe("a bucket", () => {
  const owner = makeOwner(3);

  test("gets the same files as a folder, below the prefix, and a second run changes nothing", async () => {
    await s3.makeBucket("warehouse");
    const folder = makeFolder();
    assert.deepEqual(await exportTo(folder, await owner), WROTE_ALL);
    assert.deepEqual(await exportTo("s3://warehouse/raw//bookflow/", await owner), WROTE_ALL);
    const paths = globSync("**/*.ndjson", { cwd: folder });
    const expected = paths.map((path) => [`raw/bookflow/${path}`, readFileSync(join(folder, path), "utf8")]);
    const objects = await s3.read("warehouse");
    assert.deepEqual(objects, Object.fromEntries(expected));
    assert.deepEqual(await exportTo("s3://warehouse/raw/bookflow", await owner), {
      code: 0,
      stdout: "Wrote 0 files about 0 days of 1 organization.\n",
      stderr: "",
    });
    assert.deepEqual(await s3.read("warehouse"), objects);
  });

  test("with wrong credentials is reported in one sentence", async () => {
    await s3.makeBucket("closed");
    const outcome = await exportTo("s3://closed", await owner, { AWS_SECRET_ACCESS_KEY: "wrong-and-secret" });
    assert.equal(outcome.code, 1);
    assert.match(outcome.stderr, /^Can't write to the bucket closed: SignatureDoesNotMatch: [^\n]+\n$/);
    assert.doesNotMatch(outcome.stderr, /wrong-and-secret/);
    assert.deepEqual(await s3.read("closed"), {});
  });

  test("without credentials, or without a region, is reported in one sentence", async () => {
    const none = {
      AWS_ACCESS_KEY_ID: "",
      AWS_SECRET_ACCESS_KEY: "",
      AWS_EC2_METADATA_DISABLED: "true",
      HOME: makeFolder(),
    };
    const credentials = await exportTo("s3://warehouse", await owner, none);
    assert.equal(credentials.code, 1);
    assert.match(credentials.stderr, /^Can't write to the bucket warehouse: CredentialsProviderError: [^\n]+\n$/);
    const { AWS_REGION: _, ...keys } = s3.environment;
    const placeless = createCommandLine({
      DATABASE_URL: url,
      AWS_ENDPOINT_URL_S3: s3.endpoint,
      ...keys,
      HOME: makeFolder(),
    });
    const region = await placeless.run(["export", "--to", "s3://warehouse", "--org", await owner]);
    assert.equal(region.code, 1);
    assert.match(region.stderr, /^Can't write to the bucket warehouse: [^\n]*[Rr]egion is missing[^\n]*\n$/);
  });

  test("that doesn't exist is reported in one sentence", async () => {
    const outcome = await exportTo("s3://nowhere", await owner);
    assert.equal(outcome.code, 1);
    assert.match(outcome.stderr, /^Can't write to the bucket nowhere: NoSuchBucket: [^\n]+\n$/);
  });

  test("whose server is away is reported in one sentence", async () => {
    const away = `http://127.0.0.1:${await findFreePort()}`;
    const outcome = await exportTo("s3://warehouse", await owner, { AWS_ENDPOINT_URL_S3: away });
    assert.equal(outcome.code, 1);
    assert.match(outcome.stderr, /^Can't write to the bucket warehouse: ECONNREFUSED[^\n]*\n$/);
  });
});

test("the AWS library is loaded only for a bucket", async () => {
  const hook = fileURLToPath(new URL("../support/programs/refuse-aws.ts", import.meta.url));
  const owner = await makeOwner(1);
  const run = (to: string) =>
    spawnSync(process.execPath, ["--import", hook, PROGRAM, "export", "--to", to, "--org", owner], {
      // Not the bundled program, where the library has another name.
      env: {
        PATH: process.env["PATH"],
        NODE_OPTIONS: STOPPED,
        ...STOPPED_AT,
        DATABASE_URL: url,
        SECRET_KEY: "a secret key for tests, of 32 characters and more",
      },
      encoding: "utf8",
    });
  const { status, stdout } = run(makeFolder());
  assert.deepEqual([status, stdout], [0, WROTE_ALL.stdout]);
  assert.match(run("s3://large").stderr, /The AWS library was loaded/);
});

/** Fails if the process ends first. */
async function untilThere(isThere: () => boolean, child: ChildProcess): Promise<void> {
  await until(() => isThere() || child.exitCode !== null, "the file is there");
  assert.equal(child.exitCode, null, "It ended before the file was there.");
}

async function killNow(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
