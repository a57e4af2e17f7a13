import assert from "node:assert/strict";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { createCommandLine, type Outcome } from "../../../test/support/app/cli.ts";
import { makeLine, makeOwner, readTimes } from "../../../test/support/bookings/import-lines.ts";
import { makeBooking, makeKey, makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { createTestDatabase, databaseUrl, isCluster } from "../../../test/support/database/database.ts";
import { deleteBooking } from "../bookings/stored/erase/erase.ts";

const HEADING = "Bookflow can't start. Fix these settings:\n";

const { app, deps, url } = await createTestApp();
const { db } = deps;
const cli = createCommandLine({ DATABASE_URL: url, BASE_URL: "https://book.example" });

/** Enough for the program, but not for the lines of the largest file and what is parsed from them. */
const HEAP_MB = 80;

/** The output of a successful command: one JSON value, or lines for people. */
async function runJson(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await cli.runInside([...args, "--json"]);
  assert.deepEqual({ code, stderr, lines: stdout.split("\n").length }, { code: 0, stderr: "", lines: 2 });
  return JSON.parse(stdout);
}

function refusal(sentence: string): Outcome {
  return { code: 2, stdout: "", stderr: `${sentence}\n` };
}

async function readApiStatus(key: string): Promise<number> {
  const response = await app.inject({ url: "/api/v1/bookings", headers: { authorization: `Bearer ${key}` } });
  return response.statusCode;
}

describe("org", { concurrency: true }, () => {
  test("create makes a Free organization in UTC by default", async () => {
    const made = (await runJson("org", "create", "--name", "  Lindenhof Dental 🦷 ")) as { id: OrganizationId };
    const columns = ["name", "plan", "time_zone"] as const;
    const row = await db.selectFrom("organizations").select(columns).where("id", "=", made.id).executeTakeFirst();
    assert.deepEqual(row, { name: "Lindenhof Dental 🦷", plan: "free", time_zone: null });
    assert.deepEqual(Object.keys(made), ["id"]);
    assert.match(made.id, /^org_[1-9A-HJ-NP-Za-km-z]{16}$/);
  });

  test("create, set and list print one line with the current state", async () => {
    const other = createCommandLine({ DATABASE_URL: (await createTestDatabase()).url });
    const none = await other.runInside(["org", "list"]);
    assert.deepEqual(none, { code: 0, stdout: "No organizations yet.\n", stderr: "" });
    const made = await other.run(["org", "create", "--name", "A", "--plan", "pro", "--time-zone", "europe/berlin"]);
    const id = /org_\w{16}/.exec(made.stdout)?.[0] ?? "";
    assert.deepEqual(made, { code: 0, stdout: `Created ${id}  A (pro, Europe/Berlin).\n`, stderr: "" });
    const set = await other.runInside(["org", "set", id, "--name", "B", "--plan=business", "--time-zone", "UTC"]);
    assert.deepEqual(set, { code: 0, stdout: `Changed ${id}  B (business, UTC).\n`, stderr: "" });
    const list = await other.runInside(["org", "list"]);
    assert.deepEqual(list, { code: 0, stdout: `${id}  B (business, UTC)\n`, stderr: "" });
  });

  test("set changes only the fields it names, and list shows every field", async () => {
    const id = await makeOrganization(db, { name: "Elm Clinic", plan: "pro", timeZone: "Asia/Tokyo" });
    const createdAt = "2026-11-01T12:00:00.000Z";
    const changed = { id, name: "Elm Clinic", plan: "free", timeZone: "Asia/Tokyo", createdAt };
    assert.deepEqual(await runJson("org", "set", id, "--plan", "free"), changed);
    const listed = (await runJson("org", "list")) as { id: string }[];
    assert.deepEqual(
      listed.filter((organization) => organization.id === id),
      [changed],
    );
  });
});

describe("widget", { concurrency: true }, () => {
  test("create makes an active widget that stores no bookings, and prints what to paste", async () => {
    const owner = await makeOrganization(db);
    const made = (await runJson("widget", "create", "--org", owner, "--name", "Website")) as { id: WidgetId };
    const snippet = `<script async src="https://book.example/loader.js"></script>\n<svc-booking widget="${made.id}"></svc-booking>`;
    assert.deepEqual(made, { id: made.id, snippet });
    const columns = [
      "organization_id",
      "name",
      "business_name",
      "booking_url",
      "template",
      "status",
      "collect_data",
    ] as const;
    assert.deepEqual(await db.selectFrom("widgets").select(columns).where("id", "=", made.id).executeTakeFirst(), {
      organization_id: owner,
      name: "Website",
      business_name: "",
      booking_url: null,
      template: "classic",
      status: "active",
      collect_data: false,
    });
  });

  test("create takes every option", async () => {
    const owner = await makeOrganization(db);
    const options = [
      "--business-name",
      "Lindenhof",
      "--booking-url",
      "https://x.example/b?c=1",
      "--template",
      "minimal",
    ];
    const outcome = await cli.runInside([
      "widget",
      "create",
      "--org",
      owner,
      "--name",
      "W",
      ...options,
      "--collect-data",
      "on",
    ]);
    const id = /w_\w{12}/.exec(outcome.stdout)?.[0] as WidgetId;
    assert.deepEqual(outcome, {
      code: 0,
      stdout: `Created widget ${id}. Paste this into the page:\n<script async src="https://book.example/loader.js"></script>\n<svc-booking widget="${id}"></svc-booking>\n`,
      stderr: "",
    });
    const columns = ["business_name", "booking_url", "template", "collect_data"] as const;
    assert.deepEqual(await db.selectFrom("widgets").select(columns).where("id", "=", id).executeTakeFirst(), {
      business_name: "Lindenhof",
      booking_url: "https://x.example/b?c=1",
      template: "minimal",
      collect_data: true,
    });
  });

  test("set changes the fields it names and prints the widget as the read API returns it", async () => {
    const owner = await makeOrganization(db);
    const id = await makeWidget(db, owner, { collectData: true });
    const paused = await cli.runInside(["widget", "set", id, "--status", "paused"]);
    const said = `Changed widget ${id}: Website, paused, Store bookings on.\n`;
    assert.deepEqual(paused, { code: 0, stdout: said, stderr: "" });
    assert.deepEqual(
      await runJson("widget", "set", id, "--collect-data", "off", "--name", "Shop", "--template", "compact"),
      {
        id,
        name: "Shop",
        bookingUrl: `https://book.example/w/${id}`,
        template: "compact",
        status: "paused",
        collectData: false,
        businessName: "Lindenhof",
        createdAt: "2026-11-01T12:00:00.000Z",
      },
    );
  });

  test("set changes the accent and allowed domains, and clears them again", async () => {
    const id = await makeWidget(db, await makeOrganization(db));
    const read = () =>
      db.selectFrom("widgets").select(["accent_color", "allowed_domains"]).where("id", "=", id).executeTakeFirst();
    assert.deepEqual(await read(), { accent_color: null, allowed_domains: [] });
    await runJson(
      "widget",
      "set",
      id,
      "--accent",
      "#0A7A55",
      "--allowed-domains",
      "Example.com,*.example.com,example.com",
    );
    assert.deepEqual(await read(), { accent_color: "#0a7a55", allowed_domains: ["example.com", "*.example.com"] });
    await runJson("widget", "set", id, "--accent", "none", "--allowed-domains", "any");
    assert.deepEqual(await read(), { accent_color: null, allowed_domains: [] });
  });
});

describe("key", { concurrency: true }, () => {
  test("create prints a key that works for the read API, and revoke disables it at once", async () => {
    const owner = await makeOrganization(db);
    const { stdout } = await cli.runInside(["key", "create", "--org", owner, "--name", "Warehouse", "--json"]);
    const made = JSON.parse(stdout) as { id: string; key: string };
    assert.match(made.id, /^key_[1-9A-HJ-NP-Za-km-z]{16}$/);
    assert.match(made.key, /^svc_live_[0-9A-Za-z]{40}$/);
    assert.deepEqual(Object.keys(made), ["id", "key"]);
    assert.equal(await readApiStatus(made.key), 200);

    const revoked = (await runJson("key", "revoke", made.id)) as { revokedAt: string };
    assert.equal(await readApiStatus(made.key), 401);
    assert.deepEqual(await runJson("key", "revoke", made.id), revoked, "revoking twice keeps the first time");
    const again = await cli.runInside(["key", "revoke", made.id]);
    assert.deepEqual(again, { code: 0, stdout: `Revoked key ${made.id}.\n`, stderr: "" });
  });

  test("create warns when the plan does not include the read API", async () => {
    const owner = await makeOrganization(db, { plan: "pro" });
    const { code, stdout } = await cli.runInside(["key", "create", "--org", owner, "--name", "N"]);
    const [first, key = "", hint, end] = stdout.split("\n");
    assert.equal(code, 0);
    assert.match(String(first), /^Created key key_\w{16}\. Save it now; it won't be shown again:$/);
    assert.equal(
      hint,
      `The read API returns 403 until this organization is on the Business plan. To change the plan: org set ${owner} --plan business`,
    );
    assert.equal(end, "");
    assert.equal(await readApiStatus(key), 403);
  });

  test("create sets an expiry", async () => {
    const owner = await makeOrganization(db);
    const args = ["key", "create", "--org", owner, "--name", "N", "--expires-at", "2999-12-31T00:00+01:00"];
    const { id } = (await runJson(...args)) as { id: string };
    const row = await db
      .selectFrom("api_keys")
      .select("expires_at")
      .where("id", "=", id as never)
      .executeTakeFirst();
    assert.deepEqual(row, { expires_at: new Date("2999-12-30T23:00:00.000Z") });
  });

  test("a full key passed instead of its id is not echoed, and keeps working", async () => {
    const { key } = await makeKey(db, await makeOrganization(db));
    const sentence = 'No API key has this ID. IDs look like key_…. Run "key list --org ORG" to see all of them.';
    assert.deepEqual(await cli.runInside(["key", "revoke", key]), refusal(sentence));
    assert.deepEqual(await cli.runInside(["key", "revoke", "key_zzzzzzzzzzzzzzzz", "--json"]), refusal(sentence));
    assert.deepEqual(
      await cli.runInside(["key", key]),
      refusal('There is no command "key". See --help for all commands.'),
    );
    assert.equal(await readApiStatus(key), 200);
  });
});

function writeFile(name: string, content: string | Buffer): string {
  const path = join(cli.folder, name);
  writeFileSync(path, content);
  return path;
}

describe("import bookings", { concurrency: true }, () => {
  test("imports a file once, with any line endings, and prints the count", async () => {
    const { owner, widgetId } = await makeOwner(db);
    const notes = "one\u2028two\u2029three\u0085four";
    const lines = [
      makeLine(widgetId, { customer: { name: "M", email: "m@x.org", notes } }),
      makeLine(widgetId, { createdAt: "2026-10-02T00:00:00.000Z" }),
      makeLine(widgetId, { createdAt: "2026-10-03T00:00:00.000Z" }),
    ].map((line) => JSON.stringify(line));
    const file = writeFile("mixed ends.ndjson", `\uFEFF${lines[0]}\r\n\r\n${lines[1]}\n\n${lines[2]}`);

    const first = await cli.runInside(["import", "bookings", "--org", owner, file]);
    assert.deepEqual(first, { code: 0, stdout: "Imported 3 bookings; 0 already existed.\n", stderr: "" });
    assert.deepEqual(await runJson("import", "bookings", file, "--org", owner), {
      imported: 0,
      skipped: 3,
      deleted: 0,
    });
    assert.equal((await readTimes(db, owner)).length, 3);
    await deleteBooking(deps, owner, JSON.parse(lines[1] ?? "").reference);
    const third = await cli.runInside(["import", "bookings", "--org", owner, file]);
    const sentence = "Imported 0 bookings; 2 already existed. Not imported: 1 booking that had been deleted.\n";
    assert.deepEqual(third, { code: 0, stdout: sentence, stderr: "" });
    const stored = await db
      .selectFrom("bookings")
      .select("customer_notes")
      .where("organization_id", "=", owner)
      .execute();
    assert.ok(stored.some((row) => row.customer_notes === notes));
  });

  test("names the bad line and imports nothing", async () => {
    const { owner, widgetId } = await makeOwner(db);
    const good = JSON.stringify(makeLine(widgetId));
    // biome-ignore format: one case a line
    const cases: [name: string, content: string | Buffer, sentence: string][] = [
      ["broken.ndjson", `${good}\n\n{\n`, "Line 3: it is not valid JSON. Nothing was imported."],
      ["latin1.ndjson", Buffer.concat([Buffer.from(`${good}\n`), Buffer.from(JSON.stringify({ name: "Müller" }), "latin1")]), "Line 2: it is not valid UTF-8. Nothing was imported."],
      ["utf16.ndjson", Buffer.from(`\uFEFF${good}\n`, "utf16le"), "Line 1: it is not valid UTF-8. Nothing was imported."],
      ["long.ndjson", `${good}\n${"x".repeat(17 * 1024 * 1024)}`, "Line 2: it is longer than 16 MB. Nothing was imported."],
      ["csv.ndjson", "reference,createdAt\n", "Line 1: it is not valid JSON. Nothing was imported."],
    ];
    for (const [name, content, sentence] of cases) {
      const outcome = await cli.runInside(["import", "bookings", "--org", owner, writeFile(name, content), "--json"]);
      assert.deepEqual(outcome, refusal(sentence), name);
    }
    assert.deepEqual(await readTimes(db, owner), []);
  });

  test("a missing file or a folder gives a one-line error", async () => {
    const { owner } = await makeOwner(db);
    mkdirSync(join(cli.folder, "folder.ndjson"));
    const missing = await cli.runInside(["import", "bookings", "--org", owner, join(cli.folder, "nowhere.ndjson")]);
    assert.deepEqual(missing, refusal(`The file "${cli.folder}/nowhere.ndjson" can't be read (ENOENT).`));
    const folder = await cli.runInside(["import", "bookings", "--org", owner, join(cli.folder, "folder.ndjson")]);
    assert.deepEqual(folder, refusal(`The file "${cli.folder}/folder.ndjson" can't be read (EISDIR).`));
  });
});

test("a file of bookings too large for the heap is imported, and progress is reported", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const answers = [{ questionId: "q1", question: "Anything else?", answer: "long ".repeat(9_000) }];
  const lines = Array.from({ length: 1_000 }, (_, index) =>
    JSON.stringify(makeLine(widgetId, { createdAt: new Date(Date.UTC(2026, 0, 1) + index * 1_000), answers })),
  );
  // Blank lines count as lines that were read, but take no time.
  const file = writeFile("large.ndjson", `${"\n".repeat(9_501)}${lines.join("\n")}\n`);
  assert.ok(2 * statSync(file).size > HEAP_MB * 2 ** 20);
  const args = ["import", "bookings", "--org", owner, file, "--json"];
  const outcome = await cli.run(args, { nodeOptions: `--max-old-space-size=${HEAP_MB}` });
  // Said once, after the batch in which 10,000 is reached.
  assert.match(outcome.stderr, /^10[0-4][0-9]{2} lines read\n$/);
  assert.deepEqual(outcome, { ...outcome, code: 0, stdout: '{"imported":1000,"skipped":0,"deleted":0}\n' });
});

describe("retention run and migrate", { concurrency: true }, () => {
  test("retention run deletes what is past retention, and prints the counts", async () => {
    const other = await createTestDatabase();
    const { owner, widgetId } = await makeOwner(other.db);
    await makeBooking(other.db, owner, { widgetId, now: new Date("2001-01-01T00:00:00.000Z") });
    const line = createCommandLine({ DATABASE_URL: other.url });
    const first = await line.runInside(["retention", "run"]);
    assert.match(first.stdout, /^Deleted 1 booking,.*\bpast their retention\.\n$/);
    assert.deepEqual([first.code, first.stderr], [0, ""]);
    const second = await line.runInside(["retention", "run", "--json"]);
    assert.equal(JSON.parse(second.stdout).bookings, 0);
  });

  test("migrate names what it applied, and then says nothing is left", async () => {
    const empty = await createTestDatabase({ template: "template1" });
    const line = createCommandLine({ DATABASE_URL: empty.url });
    const first = await line.run(["migrate", "--json"]);
    const { applied } = JSON.parse(first.stdout) as { applied: string[] };
    assert.deepEqual(
      { ...first, applied: applied.slice(0, 1) },
      { ...first, code: 0, stderr: "", applied: ["0001_baseline.sql"] },
    );
    assert.deepEqual(await line.runInside(["migrate", "--json"]), { code: 0, stdout: '{"applied":[]}\n', stderr: "" });
    assert.deepEqual(await line.runInside(["migrate"]), {
      code: 0,
      stdout: "The database is up to date.\n",
      stderr: "",
    });
  });
});

describe("invalid input gives one line on standard error and exit code 2", { concurrency: 4 }, () => {
  const ORG_CREATE = "Usage: org create --name NAME [--plan free|pro|business] [--time-zone ZONE]";
  const ORG_SET = "Usage: org set ORG [--name NAME] [--plan free|pro|business] [--time-zone ZONE]";
  const noOrganization = "org_zzzzzzzzzzzzzzzz";
  const noWidget = "w_zzzzzzzzzzzz";
  // biome-ignore format: one case a line
  const cases: [args: string[], sentence: string][] = [
    [["org"], 'There is no command "org". See --help for all commands.'],
    [["org", "destroy"], 'There is no command "org destroy". See --help for all commands.'],
    [["ORG", "LIST"], 'There is no command "". See --help for all commands.'],
    [["--name", "x", "org", "create"], 'There is no command "--name x". See --help for all commands.'],
    [["org", "create"], `--name is missing. ${ORG_CREATE}`],
    [["org", "create", "Lindenhof"], ORG_CREATE],
    [["org", "create", "--name"], `Option '--name <value>' argument missing. ${ORG_CREATE}`],
    [["org", "create", "--name", "--plan", "pro"], `Option '--name' argument is ambiguous. ${ORG_CREATE}`],
    [["org", "create", "--nmae", "x"], `Unknown option '--nmae'. ${ORG_CREATE}`],
    [["org", "create", "-n", "x"], `Unknown option '-n'. ${ORG_CREATE}`],
    [["org", "create", "--name", "a", "--name", "b"], `--name was given more than once. ${ORG_CREATE}`],
    [["org", "create", "--name", ""], "--name: This must not be empty."],
    [["org", "create", "--name", " \t\n"], "--name: This must not be empty."],
    [["org", "create", "--name", "a\nb"], "--name: Line breaks and control characters are not allowed."],
    [["org", "create", "--name", "a\u001b[31mb"], "--name: Line breaks and control characters are not allowed."],
    [["org", "create", "--name", "a\u2028b"], "--name: Line breaks and control characters are not allowed."],
    [["org", "create", "--name", "🦷".repeat(201)], "--name: Use at most 200 characters."],
    [["org", "create", "--name", "N", "--plan", "gold"], "--plan must be one of free, pro, business."],
    [["org", "create", "--name", "N", "--plan", "Pro"], "--plan must be one of free, pro, business."],
    [["org", "create", "--name", "N", "--time-zone", "Mars/Olympus"], "--time-zone must be an IANA time zone, for example Europe/Berlin."],
    [["org", "create", "--name", "N", "--time-zone", "+01:00"], "--time-zone must be an IANA time zone, for example Europe/Berlin."],
    [["org", "create", "--name", "N", "--time-zone", "T12:00+01:00"], "--time-zone must be an IANA time zone, for example Europe/Berlin."],
    [["org", "list", "all"], "Usage: org list [--deleted]"],
    [["org", "set"], ORG_SET],
    [["org", "set", noOrganization, "--plan", "pro"], `No organization has the ID "${noOrganization}". Run "org list" to see all of them.`],
    [["org", "set", "Linden\nhof", "--plan", "pro"], 'No organization has the ID "Linden\\nhof". Run "org list" to see all of them.'],
    [["widget", "create", "--org", noOrganization, "--name", "N"], `No organization has the ID "${noOrganization}". Run "org list" to see all of them.`],
    [["widget", "set", noWidget, "--status", "paused"], `No widget has the ID "${noWidget}". Run "widget list --org ORG" to see all of them.`],
    [["widget", "set", noWidget, "--status", "gone"], "--status must be one of active, paused."],
    [["widget", "set", noWidget, "--template", "fancy"], "--template must be one of classic, compact, minimal."],
    [["widget", "set", noWidget, "--collect-data", "yes"], "--collect-data must be one of on, off."],
    [["widget", "set", noWidget], "Nothing to change. Use --status, --collect-data, --name, --template, --accent or --allowed-domains."],
    [["key", "create", "--org", noOrganization, "--name", "N"], `No organization has the ID "${noOrganization}". Run "org list" to see all of them.`],
    [["import", "bookings", "--org", noOrganization, "x.ndjson"], `No organization has the ID "${noOrganization}". Run "org list" to see all of them.`],
    [["import", "bookings", "x.ndjson"], "--org is missing. Usage: import bookings --org ORG FILE.ndjson"],
    [["import", "bookings", "--org", noOrganization], "Usage: import bookings --org ORG FILE.ndjson"],
  ];
  for (const [args, sentence] of cases) {
    test(args.join(" ").slice(0, 80).replaceAll(/\s/g, " "), async () => {
      assert.deepEqual(await cli.runInside(args), refusal(sentence));
    });
  }

  test("from the process itself too", async () => {
    assert.deepEqual(await cli.run(["org", "create"]), refusal(`--name is missing. ${ORG_CREATE}`));
  });

  test("for an existing organization too", async () => {
    const owner = await makeOrganization(db);
    const before = await db.selectFrom("api_keys").selectAll().orderBy("id").execute();
    assert.deepEqual(
      await cli.runInside(["org", "set", owner]),
      refusal("Nothing to change. Use --name, --plan or --time-zone."),
    );
    const long = ["--name", "🦷".repeat(101)];
    assert.deepEqual(
      await cli.runInside(["key", "create", "--org", owner, ...long]),
      refusal("--name: This must have at most 100 characters."),
    );
    const widget = await makeWidget(db, owner);
    for (const [options, sentence] of [
      [long, "--name: This must have at most 100 characters."],
      [["--name", "a\nb"], "--name: This must be one line of text."],
      [["--accent", "red"], "--accent: This must be a colour such as #4b45d6."],
      [
        ["--allowed-domains", "example.com,https://x.example"],
        "--allowed-domains: Enter host names such as example.com or *.example.com.",
      ],
    ] as const)
      assert.deepEqual(await cli.runInside(["widget", "set", widget, ...options]), refusal(sentence));
    const create = ["widget", "create", "--org", owner, "--name", "N"];
    for (const address of ["example.com", "javascript:alert(1)", "ftp://example.com"]) {
      const outcome = await cli.runInside([...create, "--booking-url", address]);
      assert.deepEqual(
        outcome,
        refusal("--booking-url: Enter a full https URL, for example https://example.com/book."),
      );
    }
    for (const [end, sentence] of [
      ["tomorrow", "--expires-at: This must be an ISO 8601 date."],
      ["2999-02-30", "--expires-at: This must be an ISO 8601 date."],
      ["2020-01-01", "--expires-at: Choose a date in the future."],
    ] as const) {
      const outcome = await cli.runInside(["key", "create", "--org", owner, "--name", "N", "--expires-at", end]);
      assert.deepEqual(outcome, refusal(sentence));
    }
    const set = await cli.runInside(["org", "set", owner, "--time-zone", "Mars/Olympus"]);
    assert.deepEqual(set, refusal("--time-zone: Choose a time zone, for example Europe/Berlin."));
    const widgets = db.selectFrom("widgets").select(["id", "name"]).where("organization_id", "=", owner);
    assert.deepEqual(await widgets.execute(), [{ id: widget, name: "Website" }]);
    assert.deepEqual(await db.selectFrom("api_keys").selectAll().orderBy("id").execute(), before);
  });
});

describe("a command that cannot run exits with 1", { concurrency: true }, () => {
  test("all configuration errors come in one message, without any secret", async () => {
    const settings = { PORT: "http", LOG_LEVEL: "loud", DATABASE_URL: "mysql://root:hunter2@localhost/x" };
    assert.deepEqual(await cli.run(["org", "list"], { settings }), {
      code: 1,
      stdout: "",
      stderr:
        HEADING +
        'PORT must be a whole number from 0 to 65535, not "http"\n' +
        "DATABASE_URL must be an address like postgres://… or postgresql://…\n" +
        'LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud"\n',
    });
  });

  test("settings are read from .env, and the environment takes precedence", async () => {
    const other = createCommandLine({ LOG_LEVEL: "info" });
    writeFileSync(join(other.folder, ".env"), "PORT=0x10\nLOG_LEVEL=loud\n# HOST=\n");
    const outcome = await other.run(["org", "list"]);
    const stderr = `${HEADING}PORT must be a whole number from 0 to 65535, not "0x10"\n`;
    assert.deepEqual(outcome, { code: 1, stdout: "", stderr });
  });

  test("an unreachable database gives one line without its password", async () => {
    const address = new URL(databaseUrl("no_such_database"));
    const outcome = await cli.run(["org", "list"], { settings: { DATABASE_URL: address.href } });
    const sentence = 'The database at DATABASE_URL can\'t be used: database "no_such_database" does not exist.\n';
    assert.deepEqual(outcome, { code: 1, stdout: "", stderr: sentence });
  });

  test("an unusable data folder gives a one-line error", async () => {
    const other = createCommandLine({});
    const file = join(other.folder, "file");
    writeFileSync(file, "");
    const outcome = await other.run(["org", "list"], { settings: { DATA_DIR: file } });
    assert.deepEqual(outcome, { code: 1, stdout: "", stderr: `${file} is not a folder. Set DATA_DIR to a folder.\n` });
  });

  test("an internal error is one log line without row values", async () => {
    const other = await createTestDatabase();
    await other.pool.query("alter table organizations add constraint short_names check (length(name) < 5)");
    const line = createCommandLine({ DATABASE_URL: other.url });
    const { code, stdout, stderr } = await line.runInside(["org", "create", "--name", "Lindenhof"]);
    const { level, name, error } = JSON.parse(stderr);
    assert.deepEqual([code, stdout, level, name], [1, "", "error", "command.failed"]);
    assert.deepEqual([error.type, error.code], ["DatabaseError", "23514"]);
    // Citus does not pass on the table and the constraint.
    if (!isCluster()) assert.deepEqual([error.table, error.constraint], ["organizations", "short_names"]);
    assert.doesNotMatch(stderr, /Lindenhof/);
  });
});

describe("help", { concurrency: true }, () => {
  test("lists every command, however it is requested, and needs no database", async () => {
    const bare = createCommandLine({ PORT: "not even settings" });
    const [none, help, option, one, group, unknown, json] = await Promise.all([
      bare.run([]),
      bare.runInside(["help"]),
      bare.runInside(["--help"]),
      bare.runInside(["org", "create", "--help"]),
      bare.runInside(["help", "key"]),
      bare.runInside(["help", "keys"]),
      bare.runInside(["--help", "--json"]),
    ]);
    assert.equal(none.code, 0);
    for (const other of [help, option, unknown]) assert.deepEqual(other, none);
    const listed = ({ stdout }: { stdout: string }) => [...stdout.matchAll(/^ {2}(\S+ \S+)/gm)].map(([, name]) => name);
    assert.deepEqual([listed(one), listed(group)], [["org create"], ["key list", "key create", "key revoke"]]);
    const usages = JSON.parse(json.stdout) as string[];
    for (const usage of usages) assert.ok(none.stdout.includes(`\n  ${usage}\n`), usage);
    const commands = ["org create", "org set", "org list", "widget create", "widget set", "key create", "key revoke"];
    for (const command of [...commands, "import bookings", "retention run", "migrate"])
      assert.ok(
        usages.some((usage) => usage.startsWith(command)),
        command,
      );
  });
});

test("widgets, keys and users are listed with their IDs, for one organization only", async () => {
  const create = async (...args: string[]) =>
    JSON.parse((await cli.runInside([...args, "--json"])).stdout).id as string;
  const list = async (...args: string[]) => (await cli.runInside(args)).stdout;
  const org = await create("org", "create", "--name", "Listed");
  const other = await create("org", "create", "--name", "Other");
  const widget = await create("widget", "create", "--org", org, "--name", "Website");
  const key = await create("key", "create", "--org", org, "--name", "Sync");
  const revoked = await create("key", "create", "--org", org, "--name", "Old");
  await cli.runInside(["key", "revoke", revoked]);
  const email = "listed@example.com";
  const user = await create("user", "create", "--org", org, "--email", email, "--password", "a long password 1");
  assert.equal(await list("widget", "list", "--org", org), `${widget}  Website (active)\n`);
  const keys = (await list("key", "list", "--org", org)).trimEnd().split("\n");
  assert.deepEqual(
    keys.sort(),
    [`${key}  Sync (active)  analytics,bookings`, `${revoked}  Old (revoked)  analytics,bookings`].sort(),
  );
  assert.equal(await list("user", "list", "--org", org), `${user}  ${email}, owner\n`);
  assert.equal(await list("widget", "list", "--org", other), "No widgets.\n");
  assert.equal(await list("key", "list", "--org", other), "No API keys.\n");
  assert.equal(await list("user", "list", "--org", other), "No members.\n");
});

test("key create takes scopes and networks, and names what is wrong with them", async () => {
  const org = JSON.parse((await cli.runInside(["org", "create", "--name", "Scopes", "--json"])).stdout).id;
  const create = ["key", "create", "--org", org, "--name", "Board"];
  const made = await cli.runInside([
    ...create,
    "--scopes",
    "bookings.anonymous, analytics",
    "--networks",
    "10.0.0.0/8",
  ]);
  assert.equal(made.code, 0);
  const [listed] = JSON.parse((await cli.runInside(["key", "list", "--org", org, "--json"])).stdout);
  const { scopes, networks } = listed;
  assert.deepEqual({ scopes, networks }, { scopes: ["analytics", "bookings.anonymous"], networks: ["10.0.0.0/8"] });
  for (const [option, value] of [
    ["--scopes", "everything"],
    ["--scopes", ""],
    ["--networks", "office"],
  ] as const) {
    const { code, stderr } = await cli.runInside([...create, option, value]);
    assert.deepEqual([code, stderr.startsWith(`${option}: `)], [2, true], stderr);
  }
});
