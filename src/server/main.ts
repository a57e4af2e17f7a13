import type { FastifyInstance } from "fastify";
import { makeSetupLink } from "./accounts/setup/setup.ts";
import { buildApp } from "./app.ts";
import { type Config, ConfigError, parseConfig, readEnvironment } from "./config.ts";
import { createDeps, type ServiceDeps } from "./create-deps.ts";
import { warnOfLateCommits } from "./db/citus/late-commits.ts";
import { type Database, openDatabase } from "./db/open-database.ts";
import { listen, requireFreePort } from "./http/listen.ts";
import { onStopSignal } from "./lib/concurrency/stop-signal.ts";
import { createLog, type Log, toStandardOutput } from "./lib/log/log.ts";
import { offerHelp } from "./lib/offer-help.ts";
import { StartError } from "./lib/start-error.ts";
import { buildWorkerApp } from "./operations/worker-app.ts";
import { startWorker, TASKS } from "./worker.ts";

// config -> dependencies -> role; signals; nothing else. Logs go to standard output, messages for people to standard
// error.

offerHelp(`npm start

Starts Bookflow. It has no options: settings are environment variables, or lines of a file named .env.
All of them are in .env.example, for example:

  PORT=4000 npm start          listens on another port
  LOG_FORMAT=json npm start    logs as JSON in a terminal too

Commands for the operator:  npm run -s bookflow -- help`);

try {
  await start();
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof StartError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function start(): Promise<void> {
  const config = parseConfig(readEnvironment());
  const log = createLog(config.logLevel, toStandardOutput(config.logFormat, process.stdout.isTTY));
  // After an uncaught exception, anything may be half done, so only a fresh process is safe. It is logged here because
  // Node would print the whole error with its contents.
  process.on("uncaughtException", (error) => {
    log.error("service.crashed", { error });
    process.exit(1);
  });
  const notice = (sentence: string) => process.stderr.write(`${sentence}\n`);

  // Before a database is created: a port that is taken is the most likely reason why a first start fails.
  if (config.role !== "worker") await requireFreePort(config);
  const database = await openDatabase({ config, log, notice });
  try {
    await serve({ config, log, notice, database });
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function serve(parts: {
  config: Config;
  log: Log;
  notice: (sentence: string) => void;
  database: Database;
}): Promise<void> {
  const { config, log, notice, database } = parts;
  const deps = await createDeps({ config, database, log });
  surviveRejections(deps);
  const app = config.role === "worker" ? null : await buildApp(deps);
  if (app) await listen(app, config);
  const link = app && (await makeSetupLink(deps, toAddress(app, config)));
  const monitor = config.role === "worker" && config.workerPort > 0 ? buildWorkerApp(deps) : null;
  if (monitor) await listen(monitor, { host: config.host, port: config.workerPort, portName: "WORKER_PORT" });
  const worker = config.role === "web" ? null : startWorker(deps, TASKS);
  onStopSignal(
    { graceMs: config.shutdownGraceMs, log },
    {
      async finish() {
        await Promise.all([app?.close(), monitor?.close(), worker?.stop()]);
        // Closed last: booking requests in progress, and the task that looks up lost ones, still use it.
        await deps.scheduler.outbound.close();
      },
      letGo: () => database.close(),
    },
  );
  log.info("service.started", { role: config.role });
  void warnOfLateCommits(deps);
  notice(app ? `Bookflow is ready at ${toAddress(app, config)}` : "Bookflow's worker is running.");
  if (link) notice(`No one can sign in yet. Open this link to create the first account:\n${link}`);
}

/**
 * An unhandled rejection is a bug, so it is logged, counted and alerted on. It does not end the process: the caller has
 * given up on the work, nothing else is half done, and exiting would fail every request and delivery in progress.
 */
function surviveRejections({ log, metrics }: ServiceDeps): void {
  process.on("unhandledRejection", (error) => {
    metrics.unhandledRejections.inc();
    log.error("service.rejection_unhandled", { error });
  });
}

/** With PORT=0, only the socket knows the port. */
function toAddress(app: FastifyInstance, config: Config): string {
  const bound = app.server.address();
  return config.port === 0 && bound !== null && typeof bound === "object"
    ? `http://localhost:${bound.port}`
    : config.baseUrl;
}
