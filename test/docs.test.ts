import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Compile } from "typebox/compile";
import { ApiErrorBody } from "#contract/api-error.ts";
import { ImportedBooking, ImportedEvent } from "#contract/imported-lines.ts";
import { toSchemaExample } from "./support/app/schema-example.ts";
import { createTestDatabase, isCluster } from "./support/database/database.ts";
import { findFreePort } from "./support/programs/free-port.ts";
import { createNewcomer } from "./support/programs/newcomer.ts";
import { type Block, listBlocks, ROOT } from "./support/repository/document-blocks.ts";
import { startCalcomServer } from "./support/scheduler/calcom/calcom-server.ts";
import { until } from "./support/until.ts";

// Everything the documents tell people to type is typed here as written, except for ports and hosts. A block fails if it is
// neither run here, nor by a test named here, nor listed as impossible to run.

/** Tested elsewhere, by a test that covers every block in these languages in the document. */
const ELSEWHERE: readonly { document: string; languages: readonly string[]; test: string }[] = [
  {
    document: "docs/embedding.md",
    languages: ["html", "js", "jsx", "vue", "http"],
    test: "test/browser/loader-guide.test.ts",
  },
  { document: "docs/client-library.md", languages: ["ts"], test: "test/flows/sdk-package.test.ts" },
  { document: "docs/exports.md", languages: ["text"], test: "src/server/export/export.test.ts" },
  { document: "sdk/README.md", languages: ["ts"], test: "test/flows/sdk-package.test.ts" },
  {
    document: "docs/webhooks.md",
    languages: ["json", "ts", "py", "php", "go"],
    test: "src/server/webhooks/docs.test.ts",
  },
];

/** Listed by how they start. */
const NOT_RUN: readonly { document: string; start: string; why: string }[] = [
  { document: "README.md", start: "npm ci && npm test", why: "it is this very run" },
  ...["README.md", "docs/quick-start.md"].map((document) => ({
    document,
    start: "npm ci && npm run demo",
    why: "the demo has its own test, and npm ci would reinstall what the tests run on",
  })),
  {
    document: "docs/client-library.md",
    start: "npm ",
    why: "they write into the checkout and a project of the reader's; test/support/programs/installed-client.ts does both in copies",
  },
  ...["claude mcp add", '{\n  "mcpServers"', '{\n  "inputs"'].map((start) => ({
    document: "docs/assistants.md",
    start,
    why: "it configures another program; src/server/mcp/mcp.test.ts connects with the same header",
  })),
  ...["version: 2\nsources:", "select\n  bookings.organization_id"].map((start) => ({
    document: "docs/exports.md",
    start,
    why: "our test machines have neither dbt nor DuckDB, which ran both when they were written",
  })),
  { document: "docs/operating.md", start: "server {", why: "our test machines have no nginx" },
  { document: "docs/operating.md", start: "book.example.com {", why: "our test machines have no Caddy" },
  { document: "docs/backup.md", start: "pg_dump", why: "npm's PostgreSQL comes without pg_dump" },
  { document: "docs/backup.md", start: "pg_restore", why: "npm's PostgreSQL comes without pg_restore" },
  {
    document: "docs/operating.md",
    start: "ROLE=web",
    why: "they do not end by themselves; src/server/main.test.ts starts a process in each role",
  },
  {
    document: "docs/webhooks.md",
    start: "POST /hooks HTTP/1.1",
    why: "it shows a request that we make; src/server/webhooks/delivery/status-table.test.ts compares its headers",
  },
  {
    document: "docs/reliability.md",
    start: "npm run faults",
    why: "it takes an hour; test/flows/faults.test.ts plays two rounds",
  },
  {
    document: "docs/scheduling-systems.md",
    start: "npm run -s bookflow -- connection check",
    why: "it needs an account; src/server/cli/connection-commands.test.ts runs it against the stand-ins",
  },
];

/** In this order, so that one document can use what an earlier one created; the rest follow by name. */
const SHELL_ORDER = ["docs/quick-start.md", "README.md"];

const START = "npm ci && npm start\n";
const BACKUP = /bookflow-backup/;

const blocks = listBlocks();
const isElsewhere = ({ document, language }: Block) =>
  ELSEWHERE.some((each) => each.document === document && each.languages.includes(language));
const isNotRun = ({ document, text }: Block) =>
  NOT_RUN.some((each) => each.document === document && text.startsWith(each.start));
const here = blocks.filter((block) => !isElsewhere(block) && !isNotRun(block));

describe("every code block in the documents is covered", () => {
  test("blocks that aren't run elsewhere or listed are in a language run here", () => {
    const strange = here.filter(({ language }) => !["sh", "json", "ndjson", "sql"].includes(language));
    assert.deepEqual(strange, []);
    assert.ok(here.filter(({ language }) => language === "sh").length > 15);
  });

  test("the lists name only existing blocks", () => {
    for (const { document, start } of NOT_RUN)
      assert.ok(
        blocks.some((block) => block.document === document && block.text.startsWith(start)),
        `${document}: ${start}`,
      );
    for (const each of ELSEWHERE) {
      assert.ok(readFileSync(join(ROOT, each.test), "utf8").includes(each.document.split("/").at(-1) ?? ""), each.test);
      for (const language of each.languages)
        assert.ok(
          blocks.some((block) => block.document === each.document && block.language === language),
          `${each.document}: ${language}`,
        );
    }
  });

  test("every npm script and command named in the text exists", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const commands = readCommandNames();
    for (const document of new Set(blocks.map((block) => block.document))) {
      const text = readFileSync(join(ROOT, document), "utf8");
      for (const [, name = ""] of text.matchAll(/npm run (?:-s )?([a-z:]+)/g))
        assert.ok(name in scripts, `${document}: ${name}`);
      for (const [, words = ""] of text.matchAll(/bookflow -- ([a-z]+(?: [a-z]+)?)/g))
        assert.ok(
          commands.some((name) => words === name || words.startsWith(`${name} `)),
          `${document}: ${words}`,
        );
    }
  });
});

function readCommandNames(): string[] {
  const help = readFileSync(join(ROOT, "src/server/cli/run.ts"), "utf8");
  const files = [...help.matchAll(/from "\.\/(\S+-commands?\.ts)"/g)].map(([, file = ""]) => file);
  return files.flatMap((file) =>
    [...readFileSync(join(ROOT, "src/server/cli", file), "utf8").matchAll(/^\s+name: "([^"]+)"/gm)].map(
      ([, name = ""]) => name,
    ),
  );
}

test("every JSON block is valid, and has the shape that is sent", async () => {
  const error = Compile(ApiErrorBody);
  const openApi = JSON.parse(readFileSync(join(ROOT, "openapi.json"), "utf8"));
  const examples = Object.keys(openApi.components.schemas).map((name) =>
    toSchemaExample(openApi, { $ref: `#/components/schemas/${name}` }),
  );
  for (const { document, text } of here.filter(({ language }) => language === "json")) {
    const shown = JSON.parse(text);
    const isShape = error.Check(shown) || examples.some((example) => JSON.stringify(example) === JSON.stringify(shown));
    assert.ok(isShape, `${document}: ${text}`);
  }
});

test("every line to import is one that an import accepts", () => {
  const shapes = [Compile(ImportedBooking), Compile(ImportedEvent)];
  const lines = here.filter(({ language }) => language === "ndjson").flatMap(({ text }) => text.trim().split("\n"));
  assert.equal(lines.length, 3);
  for (const line of lines)
    assert.ok(
      shapes.some((shape) => shape.Check(JSON.parse(line))),
      line,
    );
});

test("every SQL block runs on our tables", async () => {
  const { pool } = await createTestDatabase();
  const runsHere = (text: string) => isCluster() || !/\bcitus_/.test(text);
  for (const { text, language } of here) if (language === "sql" && runsHere(text)) await pool.query(text);
});

/** A bare machine may lack these tools; Bookflow itself needs none of them. */
const missing = ["curl", "openssl", "tar"].filter((program) => !isThere(program));

function isThere(program: string): boolean {
  try {
    execFileSync(program, [program === "openssl" ? "version" : "--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("a newcomer who types the documented commands", {
  skip: missing.length > 0 && `there is no ${missing.join(" and no ")} here`,
}, () => {
  const shell = here.filter(({ language }) => language === "sh");
  const rank = ({ document }: Block) => (SHELL_ORDER.indexOf(document) + 1 || SHELL_ORDER.length + 1) - 1;
  const ordered = [...shell].sort((a, b) => rank(a) - rank(b));
  const printed: (Block & { output: string })[] = [];
  const findOutput = (document: string, part: string) =>
    printed.find((block) => block.document === document && block.text.includes(part))?.output ?? assert.fail(part);

  test("gets through without an error, and sees the documented output", async () => {
    const newcomer = await createNewcomer();
    const receiverPort = await findFreePort();
    const calcom = await startCalcomServer();
    after(() => calcom.stop());
    const adapt = (text: string) =>
      text
        .replaceAll("localhost:3000", `localhost:${newcomer.port}`)
        .replaceAll(/(?<=127\.0\.0\.1:|PORT=)8080/g, String(receiverPort))
        .replaceAll("https://example.com/hooks", `http://127.0.0.1:${receiverPort}/`)
        .replace('"settings": {}', `"settings": ${JSON.stringify(calcom.parts.settings)}`)
        .replace("cal_live_…", calcom.parts.credentials.apiKey);
    const received = () => readFileSync(join(newcomer.folder, "received.txt"), "utf8");

    let isStarted = false;
    for (const block of ordered.filter(({ text }) => !BACKUP.test(text))) {
      const { text } = block;
      if (text === START) {
        if (!isStarted) await newcomer.startService();
        isStarted = true;
        continue;
      }
      // People take longer than this to read on.
      if (text.startsWith("cat received.txt")) await until(() => received() !== "", "the webhook has arrived");
      printed.push({ ...block, output: await newcomer.type(adapt(text)) });
      if (text.includes("receiver.ts")) await until(() => isListening(receiverPort), "the receiver listens");
    }

    const guide = "docs/quick-start.md";
    const [ids = ""] = findOutput(guide, "org create").match(/^org_\w+ w_\w+ svc_live_\w+$/m) ?? [];
    const [, , key = ""] = ids.split(" ");
    const [booked] = findOutput(guide, "Idempotency-Key").match(/SVC-\w{6}/) ?? [];
    assert.ok(key && booked, "an id each, and a reference");
    assert.match(findOutput(guide, "cat received.txt"), new RegExp(`^evt_[0-9a-f]{32} ${booked}\n$`));
    const listed = JSON.parse(findOutput(guide, "/api/v1/bookings"));
    const [stored, ...others] = listed.data;
    assert.deepEqual([stored.reference, stored.customer.name, others], [booked, "Mara Quell", []]);
    assert.equal(JSON.parse(findOutput(guide, "/api/v1/analytics")).totals.bookings, 1);
    assert.equal(JSON.parse(findOutput("README.md", "/api/v1/widgets")).data[0].name, "Website");
    const setUp = findOutput("docs/management-api.md", "api PATCH");
    assert.match(setUp, /"timeZone":"Europe\/Berlin".*"mode":"live".*"deliveryId".*svc_live_.*loader\.js/s);
    assert.match(readFileSync(join(newcomer.folder, "endpoint.json"), "utf8"), /"secret":"whsec_/);
    const widgets = JSON.parse(findOutput("docs/read-api.md", "/api/v1/widgets")).data as { name: string }[];
    assert.deepEqual(
      widgets.map(({ name }) => name),
      ["Front page", "Website"],
    );

    assert.match(findOutput("docs/webhooks.md", "endpoint add"), /whsec_[\w+/]{44}\n$/);
    const vector = "72037e86def453cf6a64018f6cf1777244901dd1b7431177c7374ccb54040b54";
    assert.ok(findOutput("docs/webhooks.md", "openssl").trim().endsWith(vector));
    const watched = findOutput("docs/monitoring.md", "/readyz");
    assert.match(watched, /^\{"status":"ready"\}/);
    assert.match(watched, /^bookflow_bookings_total\{outcome="confirmed"\} 1$/m);
    assert.match(findOutput("docs/monitoring.md", "doctor"), /^ok {4}database: /m);

    // Backup and restore: what existed before exists afterwards.
    await newcomer.stopService();
    for (const { text } of ordered.filter((block) => BACKUP.test(block.text))) await newcomer.type(text);
    await newcomer.startService();
    const response = await fetch(`http://localhost:${newcomer.port}/api/v1/bookings`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.deepEqual(await response.json(), listed);
  });
});

async function isListening(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
