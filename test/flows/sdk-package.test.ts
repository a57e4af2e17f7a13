import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, type Rolldown } from "vite";
import type * as contract from "#contract/analytics/analytics.ts";
import type { Attribution } from "#contract/analytics/attribution.ts";
import type { NewConnection } from "#contract/app/connections.ts";
import type { AppDeliveryPage } from "#contract/app/deliveries.ts";
import type { AppEndpoint, EndpointChange } from "#contract/app/endpoints.ts";
import type { AppWidget } from "#contract/app/widgets.ts";
import type * as bookingContract from "#contract/bookings/booking.ts";
import type * as changesContract from "#contract/bookings/booking-changes.ts";
import { KEY_SCOPES } from "#contract/scopes.ts";
import type * as eventContract from "#contract/webhooks/webhook-event.ts";
import type * as widgetContract from "#contract/widgets/widget.ts";
import type * as client from "../../sdk/src/index.ts";
import { signBody } from "../../src/server/webhooks/request/sign.ts";
import { createTestApp } from "../support/app/app.ts";
import { makeCaller } from "../support/app/read-api.ts";
import { openWire } from "../support/app/wire.ts";
import { noBrowser, useBrowser } from "../support/browser/browser.ts";
import { makeBooking, makeKey } from "../support/builders.ts";
import { installClient } from "../support/programs/installed-client.ts";
import { findOtherNode } from "../support/programs/other-node.ts";

// The client library as it would be published: packed, installed, imported, bundled, and used as its guide says.

/** Compiles only if the two types are interchangeable. */
type Alike<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const ALIKE: true[] = [
  true satisfies Alike<client.Widget, widgetContract.Widget>,
  true satisfies Alike<client.Booking, bookingContract.Booking>,
  true satisfies Alike<client.BookingPage, bookingContract.BookingPage>,
  true satisfies Alike<client.Change, changesContract.Change>,
  true satisfies Alike<client.Deletion, changesContract.Deletion>,
  true satisfies Alike<client.Attribution, Attribution>,
  true satisfies Alike<client.Analytics, contract.Analytics>,
  true satisfies Alike<client.WebhookEvent, eventContract.CardEvent | eventContract.BookingErasedEvent>,
  true satisfies Alike<client.Endpoint, AppEndpoint>,
  true satisfies Alike<client.EndpointChange, EndpointChange>,
  true satisfies Alike<client.ManageResponse<"listDeliveries">, AppDeliveryPage>,
  true satisfies Alike<client.ManageResponse<"createWidget">, AppWidget>,
  true satisfies Alike<client.ManageRequest<"addConnection">["body"], NewConnection>,
];

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const guide = readFileSync(join(ROOT, "docs/client-library.md"), "utf8");
const readme = readFileSync(join(ROOT, "sdk/README.md"), "utf8");
const run = promisify(execFile);

const project = installClient();
const { app, deps } = await createTestApp();
const { port } = await openWire(app);
const caller = await makeCaller(deps.db, { scopes: KEY_SCOPES });
const { reference } = await makeBooking(deps.db, caller.owner, { widgetId: caller.widgetId });
for (const _ of [1, 2]) await makeKey(deps.db, caller.owner);
const SECRET = "whsec_test_secret";
const environment = {
  PATH: process.env["PATH"],
  BOOKFLOW_URL: `http://127.0.0.1:${port}`,
  BOOKFLOW_API_KEY: caller.key,
  WEBHOOK_SECRET: SECRET,
};

function listSnippets(text: string): string[] {
  return [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, snippet = ""]) => snippet);
}

/** Writes a file into the project and runs it there, as its owner would. */
async function runFile(name: string, text: string, program = process.execPath): Promise<string> {
  writeFileSync(join(project, name), text);
  return (await run(program, [name], { cwd: project, env: environment })).stdout;
}

describe("the package", () => {
  test("contains JavaScript, types, a readme and the license, and nothing else", () => {
    const folder = join(project, "node_modules/@bookflow/client");
    const sources = globSync("*.ts", { cwd: join(ROOT, "sdk/src") }).map((name) => name.replace(/\.ts$/, ""));
    const files = globSync("**/*", { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
    assert.deepEqual(
      files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort(),
      [
        "LICENSE",
        "README.md",
        "package.json",
        "dist/package.json",
        ...sources.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]),
      ].sort(),
    );
    assert.ok(!existsSync(join(folder, "node_modules")));
    for (const name of sources) {
      for (const kind of ["js", "d.ts"])
        assert.doesNotMatch(readFileSync(join(folder, `dist/${name}.${kind}`), "utf8"), /\.ts"/, `${name}.${kind}`);
    }
  });

  test("has no dependencies, and has our version and license", () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, "sdk/package.json"), "utf8"));
    const ours = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    assert.deepEqual(
      Object.keys(manifest).filter((name) => /dependencies/i.test(name)),
      [],
    );
    assert.deepEqual([manifest.version, manifest.license], [ours.version, ours.license]);
    assert.equal(readFileSync(join(ROOT, "sdk/LICENSE"), "utf8"), readFileSync(join(ROOT, "LICENSE"), "utf8"));
    assert.ok(guide.includes(`bookflow-client-${manifest.version}.tgz`));
  });

  const older = findOtherNode();
  test("works on this machine's Node too, with import and with require", {
    skip: older === null && "there is no other Node",
  }, async () => {
    const using = (how: string) => `${how}
      (async () => {
      const client = createClient({ baseUrl: process.env.BOOKFLOW_URL, apiKey: process.env.BOOKFLOW_API_KEY });
      for await (const booking of client.bookings()) console.log(booking.reference, (await client.widgets()).length);
      console.log(verifyWebhook(process.env.BODY ?? '{"id":"evt_1","type":"x"}', ${JSON.stringify(
        signBody({ secrets: [SECRET], body: Buffer.from('{"id":"evt_1","type":"x"}'), at: new Date() }),
      )}, process.env.WEBHOOK_SECRET).id);
      const keys = [];
      for await (const { id } of client.list("listKeys", { query: { limit: 1 } })) keys.push(id);
      console.log(keys.length, new Set(keys).size);
      console.log((await client.manage("listWidgetServices", { widget: "w_none" }).catch((error) => error)) instanceof ApiError);
      })();`;
    const names = "{ ApiError, createClient, verifyWebhook }";
    const asModule = using(`import ${names} from "@bookflow/client";`);
    const asCommonJs = using(`const ${names} = require("@bookflow/client");`);
    assert.equal(await runFile("older.mjs", asModule, older ?? ""), `${reference} 1\nevt_1\n3 3\ntrue\n`);
    assert.equal(await runFile("older.cjs", asCommonJs, older ?? ""), `${reference} 1\nevt_1\n3 3\ntrue\n`);
  });

  test("has the contract's types, and a project can rely on them", async () => {
    assert.equal(ALIKE.length, 13);
    const uses = [
      'import { ApiError, createClient, type BookingStore, type WebhookEvent } from "@bookflow/client";',
      'const client = createClient({ apiKey: "svc_live_1", baseUrl: "http://localhost:3000" });',
      "for await (const { customer } of client.bookings({ since: new Date(0) })) customer.phone?.length;",
      "export const nothing: BookingStore = { readCheckpoint: () => null, upsert: async () => {} };",
      "export const name = (event: WebhookEvent) => {",
      '  if (event.type === "booking.created") return event.data.booking.staff[0]?.name;',
      '  if (event.type === "booking.cancelled") return event.data.booking.status;',
      '  if (event.type === "booking.rescheduled") return event.data.previousStart;',
      '  return event.type === "booking.erased" ? event.data.reason : event.data.endpoint.id;',
      "};",
      "export const status = (error: unknown) => (error instanceof ApiError ? error.status.toFixed() : null);",
      'export const added = await client.manage("addEndpoint", { body: { url: "https://a.example", kind: "webhook" } });',
      "export const limit: number | null = added.endpoint.requestsPerMinute;",
      'export const rotated: string = (await client.manage("rotateSecret", { endpoint: "we_1" })).secret;',
      'export const nothing2: null = await client.manage("deleteEndpoint", { endpoint: "we_1" });',
      "// @ts-expect-error: the endpoint is needed",
      'await client.manage("deleteEndpoint");',
      "// @ts-expect-error: there is no such kind",
      'await client.manage("addEndpoint", { body: { url: "https://a.example", kind: "mail" } });',
      "// @ts-expect-error: no key can do that",
      'await client.manage("invite", {});',
      'for await (const { health } of client.list("listEndpoints")) health satisfies object;',
      'for await (const { data } of client.list("listDeliveries", { query: { state: "failed" } }).pages()) data[0]?.state;',
      "// @ts-expect-error: it is no list",
      'client.list("getWidget", { widget: "w_1" });',
      "// @ts-expect-error: there is no such field",
      'for await (const { secret } of client.list("listKeys")) secret;',
      'for await (const event of client.events({ type: "booking.created" })) event.created.length;',
      "for await (const { status } of client.changes()) status.length;",
      "// @ts-expect-error: there is no such field",
      "(await client.analytics()).totals.sessions;",
      "// @ts-expect-error: staff are names here",
      "for await (const { staff } of client.bookings()) staff[0]?.name;",
      "// @ts-expect-error: the key is needed",
      'createClient({ baseUrl: "http://localhost:3000" });',
    ];
    writeFileSync(join(project, "uses.ts"), uses.join("\n"));
    // In a CommonJS project, awaits at the top level aren't possible.
    const [imports = "", ...rest] = uses.map((line) => line.replace(/^export const/, "const"));
    writeFileSync(join(project, "uses.cts"), `${imports}\nexport async function use() {\n${rest.join("\n")}\n}`);
    const snippets = [...listSnippets(guide), ...listSnippets(readme)].map((text, i) => {
      writeFileSync(join(project, `typed-${i}.ts`), text);
      return `typed-${i}.ts`;
    });
    const flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"];
    const nodeTypes = ["--typeRoots", join(ROOT, "node_modules/@types")];
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [tsc, ...flags, ...nodeTypes, "uses.ts", "uses.cts", ...snippets], { cwd: project });
  });
});

describe("in a web page", () => {
  const browser = useBrowser();
  test("the bundled client refuses with a clear error", { skip: noBrowser }, async () => {
    const entry = join(project, "page.js");
    const page = `import { createClient } from "@bookflow/client"; window.start = () => createClient({ apiKey: "svc_live_1" });`;
    writeFileSync(entry, page);
    const made = (await build({
      root: project,
      configFile: false,
      logLevel: "error",
      build: { write: false, lib: { entry, formats: ["iife"], name: "page" } },
    })) as Rolldown.RolldownOutput[];
    const code = made[0]?.output[0].code ?? "";
    const window = await browser.open();
    await window.evaluate(code);
    await assert.rejects(window.evaluate("start()"), /@bookflow\/client runs on servers only/);
  });
});

describe("the guide", () => {
  const [reading = "", managing = "", errors = "", syncing = "", receiving = "", ...others] = listSnippets(guide);
  test("has these five snippets", () => assert.deepEqual(others, []));

  test("reading", async () => {
    const [widget, booking, totals] = (await runFile("reading.ts", reading)).split("\n");
    assert.equal(widget, `${caller.widgetId} Website`);
    assert.match(booking ?? "", new RegExp(`^${reference} 2026-11-05T09:00:00.000Z Mara Quell`));
    assert.equal(totals, "0 0 0");
  });

  test("managing", async () => {
    assert.match(await runFile("managing.ts", managing), /^w_\w+ <script/);
    const deleted = deps.db.deleteFrom("widgets").where("name", "=", "Front page").returning("business_name");
    assert.deepEqual(await deleted.execute(), [{ business_name: "Lindenhof" }]);
  });

  test("errors and retries", async () => {
    assert.match(await runFile("errors.ts", errors), /^404 not_found \S.* \S+\n$/);
  });

  test("keeping a copy in sync, repeatedly", async () => {
    assert.equal(await runFile("syncing.ts", syncing), "1 1\n");
    const { reference: second } = await makeBooking(deps.db, caller.owner, { widgetId: caller.widgetId });
    assert.equal(await runFile("syncing.ts", syncing), "2 2\n");
    const copy = JSON.parse(readFileSync(join(project, "copy.json"), "utf8"));
    assert.deepEqual(Object.keys(copy.bookings).sort(), [reference, second].sort());
  });

  test("verifying webhooks", async () => {
    const body = JSON.stringify({
      id: "evt_1",
      type: "booking.created",
      data: { booking: { reference: "SVC-AAAAAA" } },
    });
    const signature = signBody({ secrets: [SECRET], body: Buffer.from(body), at: new Date() });
    const caller = `
      import { receive } from "./receiving.ts";
      for (const signature of [${JSON.stringify(signature)}, "t=1,v1=0"]) {
        const headers = { "service-signature": signature };
        const request = new Request("http://localhost/", { method: "POST", headers, body: ${JSON.stringify(body)} });
        console.log((await receive(request)).status);
      }`;
    writeFileSync(join(project, "receiving.ts"), receiving);
    assert.equal(await runFile("calling.ts", caller), "evt_1 SVC-AAAAAA\n204\n400\n");
  });

  test("links only to existing files", () => {
    for (const [, target = ""] of guide.matchAll(/\]\(([^)#][^)#]*)[^)]*\)/g))
      assert.ok(existsSync(join(ROOT, "docs", target)), target);
  });

  test("the readme's snippet runs", async () => {
    assert.match(await runFile("readme.ts", listSnippets(readme)[0] ?? ""), /^SVC-\w{6} Mara Quell\n/);
  });
});
