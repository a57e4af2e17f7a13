import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ConfigError, parseConfig, SETTINGS } from "../src/server/config.ts";
import { createDeps, type ServiceDeps } from "../src/server/create-deps.ts";
import { openDatabase } from "../src/server/db/open-database.ts";
import { DEMO_ID } from "../src/server/demo/clinic.ts";
import { readCredentials } from "../src/server/demo/credentials.ts";
import { loadDemo } from "../src/server/demo/load.ts";
import { createLog } from "../src/server/lib/log/log.ts";
import { offerHelp } from "../src/server/lib/offer-help.ts";
import { StartError } from "../src/server/lib/start-error.ts";
import { connectReceiver, hasSentWebhooks, listSigningSecrets } from "./demo/connect-receiver.ts";
import { bookAsVisitors } from "./demo/first-visitors.ts";
import { describeReady } from "./demo/print-ready.ts";
import { Receiver } from "./demo/receiver/receiver.ts";
import { serveSite } from "./demo/site/serve-site.ts";
import { findFreePort, openSmallServer } from "./demo/small-server.ts";

// `npm run demo`: the service as `npm start` runs it, on its own data folder with a filled organization, plus a sample website
// with the widget and a webhook receiver. Everything runs in one process, so that it ends together.

offerHelp(`npm run demo

Starts a demo with sample data, a sample website and a webhook receiver. Its data is in ./data-demo.

  PORT=4000 npm run demo    uses the ports 4000, 4001 and 4002`);

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const tell = (sentence: string) => process.stderr.write(`${sentence}\n`);

try {
  await start();
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof StartError)) throw error;
  tell(error.message);
  process.exit(1);
}

async function start(): Promise<void> {
  await settle(process.env);
  const config = parseConfig(process.env);
  // A separate process, so that browser files are built while the database is filled.
  const building = promisify(execFile)(process.execPath, [fileURLToPath(new URL("build.ts", import.meta.url))]);
  const [database] = await Promise.all([
    openDatabase({ config, log: createLog("error"), notice: tell }),
    // The service's code is loaded while the database is created.
    import("../src/server/app.ts"),
  ]);
  const deps = await createDeps({ config, database, log: createLog("error") });
  const site = await openSmallServer(serveSite(config.baseUrl), config.port + 1);
  const links = { site: site.address, deliveries: `${config.baseUrl}/app/${DEMO_ID}/deliveries` };
  const receiver = new Receiver({ listSecrets: () => listSigningSecrets(deps), links });
  const inbox = await openSmallServer((request, response) => receiver.handle(request, response), site.port + 1);
  let isServing = false;
  for (const signal of STOP_SIGNALS)
    process.once(signal, () => {
      if (!isServing) process.exit(1);
      // The service ends the process when it has stopped. It must be the last to release the database, and then waits until the
      // database has stopped too. Deliveries in flight still find their receiver.
      void database.close();
    });

  await load({ ...deps, db: deps.longRunningDb });
  // By address and not by name: the guard allows only this one address.
  await connectReceiver(deps, `http://127.0.0.1:${inbox.port}`);
  await building;
  await import("../src/server/main.ts");
  if (process.exitCode) process.exit();
  isServing = true;
  if (!(await hasSentWebhooks(deps))) await bookAsVisitors(config.baseUrl, deps.clock.now());
  const places = {
    service: config.baseUrl,
    site: site.address,
    receiver: inbox.address,
    dataDir: config.dataDir,
  };
  const credentials = await readCredentials(deps, config);
  process.stdout.write(describeReady(places, credentials, process.uptime()));
}

/**
 * Puts the demo's settings into the environment, where the service reads them. Variables that are already set take precedence.
 * The .env file is meant for the real service and is ignored.
 */
async function settle(environment: NodeJS.ProcessEnv): Promise<void> {
  const given = (name: string, fallback: string) => environment[name]?.trim() || fallback;
  const wanted = parseConfig({ PORT: given("PORT", "3000") }).port;
  const port = await findFreePort(wanted);
  if (port === null)
    throw new StartError(
      `Another program is already listening on port ${wanted}. Stop it, or choose another port: PORT=${wanted + 100} npm run demo`,
    );
  // A variable that is set, even to nothing, is not read from .env.
  for (const { name } of Object.values(SETTINGS)) environment[name] ??= "";
  Object.assign(environment, {
    PORT: String(port),
    BASE_URL: `http://localhost:${port}`,
    HOST: "localhost",
    ROLE: "all",
    DATABASE_URL: "",
    DATA_DIR: `${given("DATA_DIR", "./data").replace(/[\\/]+$/, "")}-demo`,
    LOG_LEVEL: given("LOG_LEVEL", "warn"),
    WEBHOOK_ALLOW_CIDRS: ["127.0.0.1/32", given("WEBHOOK_ALLOW_CIDRS", "")].filter(Boolean).join(","),
    // Faster than the real schedule, so that retries can be watched.
    WEBHOOK_RETRY_SCHEDULE: given("WEBHOOK_RETRY_SCHEDULE", "3,10,30,60,120,300,600,1200"),
  });
}

async function load(deps: ServiceDeps): Promise<void> {
  const outcome = await loadDemo(deps);
  switch (outcome.kind) {
    case "loaded":
      tell(`Generated ${outcome.visits} visits and ${outcome.bookings} bookings.`);
      return;
    case "there_already":
      return;
    case "address_taken":
      throw new StartError(`The demo needs the email address ${outcome.email}, but another account uses it.`);
    case "refused":
      throw new StartError(`The demo could not be imported: ${outcome.fault}.`);
    default:
      outcome satisfies never;
  }
}
