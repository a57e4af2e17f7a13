import { writeFile } from "node:fs/promises";
import { buildApp } from "../src/server/app.ts";
import { parseConfig } from "../src/server/config.ts";
import { createDeps } from "../src/server/create-deps.ts";
import { openDb, openPool } from "../src/server/db/connections/pool.ts";
import { createLog } from "../src/server/lib/log/log.ts";
import { offerHelp } from "../src/server/lib/offer-help.ts";
import { endSharing } from "../test/support/after-last-file.ts";
import { databaseUrl, TEMPLATE_DATABASE } from "../test/support/database/database.ts";
import { GENERATED_FILES } from "./generated-files.ts";
import { openTestServer } from "./test-server.ts";

// `npm run generate`: writes the committed files that follow from the code.

offerHelp(`npm run generate

Writes the files that follow from the code: openapi.json, schema.sql, record-statement.sql, .env.example, the tables in the guides for
operators and the client library's types.`);

/** Never seals anything; it only prevents a key from being created in the data folder. */
const SECRET_KEY = "no secret, since nothing is ever sealed with it";

const server = await openTestServer();
try {
  const log = createLog("silent");
  const pool = openPool({ url: databaseUrl(TEMPLATE_DATABASE), size: 2, log });
  const config = parseConfig({ SECRET_KEY });
  const app = await buildApp(await createDeps({ config, database: { db: openDb(pool), pool }, log }));
  for (const { name, render } of GENERATED_FILES) {
    await writeFile(new URL(`../${name}`, import.meta.url), await render({ app, pool }));
    console.log(name);
  }
  await app.close();
  await pool.end();
} finally {
  await endSharing().finally(() => server.close());
}
