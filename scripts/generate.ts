import { writeFile } from "node:fs/promises";
import { offerHelp } from "../src/server/lib/offer-help.ts";

// `npm run generate`: writes the committed files that follow from the code.

offerHelp(`npm run generate

Writes the files that follow from the code: openapi.json, schema.sql, record-statement.sql, .env.example, the tables in the guides for
operators and the client library's types.`);

// Loading the service takes seconds, which help doesn't need.
const [{ buildApp }, { parseConfig }, { createDeps }, { openDb, openPool }, { createLog }] = await Promise.all([
  import("../src/server/app.ts"),
  import("../src/server/config.ts"),
  import("../src/server/create-deps.ts"),
  import("../src/server/db/connections/pool.ts"),
  import("../src/server/lib/log/log.ts"),
]);
const [{ endSharing }, { databaseUrl, TEMPLATE_DATABASE }, { GENERATED_FILES }, { openTestServer }] = await Promise.all(
  [
    import("../test/support/after-last-file.ts"),
    import("../test/support/database/database.ts"),
    import("./generated-files.ts"),
    import("./test-server.ts"),
  ],
);

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
