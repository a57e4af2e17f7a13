import assert from "node:assert/strict";
import { test } from "node:test";
import { getMigrations } from "better-auth/db/migration";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { createLog } from "../../lib/log/log.ts";
import { createBetterAuth } from "./auth.ts";

test("our tables have every column that better-auth needs", async () => {
  const { deps } = await createTestApp();
  const library = createBetterAuth({
    ...deps,
    log: createLog("silent"),
    mail: deps.mail,
    secretKey: "x".repeat(32),
    onPasswordReset: async () => undefined,
    onOidcConnected: async () => undefined,
  });
  const { toBeCreated, toBeAdded } = await getMigrations(library.options);
  assert.deepEqual({ toBeCreated, toBeAdded }, { toBeCreated: [], toBeAdded: [] });

  await deps.db.schema.alterTable("user_sessions").dropColumn("user_agent").execute();
  const missing = await getMigrations(library.options);
  assert.deepEqual(
    missing.toBeAdded.map(({ table, fields }) => [table, Object.keys(fields)]),
    [["user_sessions", ["user_agent"]]],
    "it does look",
  );
});
