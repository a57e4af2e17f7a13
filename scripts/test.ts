import { once } from "node:events";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { isCluster, listDatabaseUrls } from "../test/support/database/database.ts";
import { buildBrowserFiles } from "./build.ts";
import { runChecks } from "./check.ts";
import { prepareBrowser } from "./test-browser.ts";
import { bundlePrograms } from "./test-programs.ts";
import { writeTestQueue } from "./test-queue.ts";
import { openTestServer } from "./test-server.ts";

// `npm test`: checks, browser files, then every test on its own PostgreSQL, then one line of counts. `npm test -- FILE …` runs
// only these files, without the checks.

/** Files that take long start first, so that none is left alone at the end: those with a browser, then those with processes. */
const TEST_FILES = [
  "test/browser/*.test.ts",
  "{test,src/server/{cli,db,webhooks/queue}}/**/*.test.ts",
  "src/**/*.test.ts",
];
/** Each running file uses about ten of the server's hundred connections. */
const FILES_AT_ONCE_MAX = 4;
/**
 * Far longer than they take together: if something hangs, the run must still end. Machines differ by a factor of four, and a
 * cluster has three servers to wait for.
 */
const RUN_LIMIT_MS = (isCluster() ? 90 : 60) * 60_000;
/** Far longer than any file takes. When one hangs, the others must still run. */
const FILE_LIMIT_MS = (isCluster() ? 15 : 10) * 60_000;

type Counts = { passed: number; failed: number; skipped: number };

// Each process loads most of the service, so compiled code is cached for the others and for the next run.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "../node_modules/.cache/bookflow");

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stopping.abort());
AbortSignal.timeout(RUN_LIMIT_MS).addEventListener("abort", () => {
  console.log(`The run was stopped because it took more than ${RUN_LIMIT_MS / 60_000} minutes.`);
  stopping.abort();
});

const counts = await runAll();
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exit(counts.failed === 0 && counts.passed > 0 && !stopping.signal.aborted ? 0 : 1);

async function runAll(): Promise<Counts> {
  const given = process.argv.slice(2);
  const failedChecks = given.length > 0 ? [] : await runChecks();
  if (failedChecks.length > 0) {
    console.log(`No tests were run because these checks failed: ${failedChecks.join(", ")}.`);
    return { passed: 0, failed: failedChecks.length, skipped: 0 };
  }
  await buildBrowserFiles();
  await bundlePrograms();
  if ((await prepareBrowser()) === null) console.log("No browser found. Tests that need one are skipped.");
  const files = given.length > 0 ? given : listTestFiles();
  const server = await openTestServer();
  console.log(
    isCluster()
      ? `Running on a Citus cluster of ${listDatabaseUrls("postgres").length} servers.`
      : "Running on one PostgreSQL server. A run on a Citus cluster is skipped: npm run cluster -- --bin DIR -- npm test",
  );
  try {
    return await runTests(files);
  } finally {
    await server.close();
  }
}

function listTestFiles(): string[] {
  return [...new Set(TEST_FILES.flatMap((pattern) => globSync(pattern).sort()))];
}

async function runTests(files: string[]): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  // Two more than there are CPUs, since some files are always waiting for a process, a time limit or the browser.
  const processes = Math.min(availableParallelism() + 2, FILES_AT_ONCE_MAX);
  const events = run({
    files: writeTestQueue(files, { processes, fileLimitMs: FILE_LIMIT_MS }),
    concurrency: processes,
    execArgv: [
      // Collects garbage less often: 60 MB more per process, 3% less time.
      "--max-semi-space-size=64",
      "--initial-old-space-size=512",
      `--import=${new URL("follow-tests.ts", import.meta.url)}`,
    ],
    signal: stopping.signal,
  });
  events.on("test:pass", ({ nesting, details, skip }) => {
    if (nesting === 0 || details.type === "suite") return;
    if (skip === undefined) counts.passed++;
    else counts.skipped++;
  });
  events.on("test:fail", ({ details: { error } }) => {
    // A file or suite fails by itself, or because of its tests, which are counted.
    const isOfTests = "failureType" in error && error.failureType === "subtestsFailed";
    if (!isOfTests) counts.failed++;
  });
  const report = events.compose(spec);
  report.pipe(process.stdout);
  // An aborted run kills its processes but does not end its report.
  await Promise.race([once(report, "end"), once(stopping.signal, "abort")]);
  return counts;
}
