import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { offerHelp } from "../src/server/lib/offer-help.ts";
import { listHostUrls } from "../src/server/lib/text/host-urls.ts";
import { createCitusDatabase, startCitusCluster } from "../test/support/database/citus-cluster.ts";

// `npm run cluster -- --bin DIR [-- COMMAND …]`: starts a Citus cluster of one coordinator and two workers on loopback, for tests
// and benches. Runs the command with DATABASE_URL and TEST_DATABASE_URL set, or waits for Ctrl+C; then stops the cluster and
// removes its data.

offerHelp(`npm run cluster -- --bin DIR [--workers N] [-- COMMAND …]

Starts a Citus cluster on this computer and runs the command with DATABASE_URL set, or waits for Ctrl+C.

  --bin DIR      the folder with PostgreSQL's and Citus's programs
  --workers N    servers beside the coordinator; default 2`);

const { values, positionals } = parseArgs({
  options: { bin: { type: "string" }, workers: { type: "string", default: "2" } },
  allowPositionals: true,
});
if (!values.bin) {
  console.error("Pass the folder with PostgreSQL's and Citus's programs: npm run cluster -- --bin /path/to/bin");
  process.exit(2);
}

const cluster = await startCitusCluster({ bin: values.bin, workers: Number(values.workers), isDurable: false });
const url = cluster.toUrl("bookflow");
await createCitusDatabase(listHostUrls(url));
const [command, ...args] = positionals;
const stopped = new Promise<number>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve(130));
});
if (command === undefined) {
  console.log(`The cluster is ready. Stop it with Ctrl+C.\nDATABASE_URL=${url}\nTEST_DATABASE_URL=${url}`);
  process.exitCode = (await stopped) === 130 ? 0 : 1;
} else {
  const child = spawn(command, args, {
    stdio: "inherit",
    env: { ...process.env, DATABASE_URL: url, TEST_DATABASE_URL: url },
  });
  const ended = once(child, "exit").then(([code]) => code ?? 1);
  process.exitCode = await Promise.race([ended, stopped]);
  child.kill();
}
await cluster.close();
