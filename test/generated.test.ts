import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { GENERATED_FILES } from "../scripts/generated-files.ts";
import { SETTINGS } from "../src/server/config.ts";
import { createTestApp } from "./support/app/app.ts";
import { createTestDatabase } from "./support/database/database.ts";

const { app } = await createTestApp();
const { pool } = await createTestDatabase();

const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), "utf8");

for (const { name, render } of GENERATED_FILES) {
  test(`${name} matches the code (if not, run npm run generate)`, async () => {
    assert.equal(await read(name), await render({ app, pool }));
  });
}

test("openapi.json is what the service returns", async () => {
  const response = await app.inject({ url: "/api/v1/openapi.json" });
  assert.deepEqual(JSON.parse(await read("openapi.json")), response.json());
});

test(".env.example used as .env changes nothing", async () => {
  const lines = (await read(".env.example")).split("\n");
  assert.deepEqual(
    lines.filter((line) => line !== "" && !line.startsWith("# ")),
    [],
  );
  const names = lines.flatMap((line) => /^# ([A-Z][A-Z0-9_]*)=/.exec(line)?.[1] ?? []);
  assert.deepEqual(
    names,
    Object.values(SETTINGS).map(({ name }) => name),
  );
});
