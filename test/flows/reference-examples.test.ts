import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { KEY_SCOPES } from "#contract/scopes.ts";
import { createTestApp } from "../support/app/app.ts";
import { openWire } from "../support/app/wire.ts";
import { makeKey, makeOrganization } from "../support/builders.ts";
import { findFreePort } from "../support/programs/free-port.ts";

type Sample = { lang: string; source: string };
type Operation = { operationId: string; "x-codeSamples"?: Sample[] };

const PROGRAMS: Record<string, readonly string[]> = {
  shell: ["sh", "-c"],
  javascript: [process.execPath, "--input-type=module", "--eval"],
};

const port = await findFreePort();
const { app, deps } = await createTestApp({ baseUrl: `http://127.0.0.1:${port}` });
await openWire(app, port);
const { key } = await makeKey(deps.db, await makeOrganization(deps.db, { plan: "business" }), { scopes: KEY_SCOPES });

test("every example in the API reference works when pasted, with the reader's key in KEY", async () => {
  const document = (await app.inject("/api/v1/openapi.json")).json() as { paths: Record<string, { get?: Operation }> };
  const operations = Object.entries(document.paths).flatMap(([path, { get }]) =>
    path.includes("{") ? [] : (get ?? []),
  );
  assert.ok(operations.length >= 5);
  for (const { operationId, "x-codeSamples": samples = [] } of operations) {
    assert.deepEqual(
      samples.map(({ lang }) => lang),
      Object.keys(PROGRAMS),
    );
    for (const { lang, source } of samples) {
      const [program = "", ...flags] = PROGRAMS[lang] ?? [];
      const run = promisify(execFile)(program, [...flags, source], { env: { ...process.env, KEY: key } });
      const { stdout } = await run;
      assert.doesNotMatch(stdout, /error/, `${operationId} in ${lang}`);
      assert.match(stdout, /data|totals|timeZone/, `${operationId} in ${lang}`);
    }
  }
});
