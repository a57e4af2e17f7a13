import { once } from "node:events";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { offerHelp } from "../src/server/lib/offer-help.ts";
import { isCluster, listDatabaseUrls } from "../test/support/database/database.ts";
import { buildBrowserFiles } from "./build.ts";
import { chooseWithin, findAffected, listChanged, readImports } from "./changed-tests.ts";
import { runChecks } from "./check.ts";
import { prepareBrowser } from "./test-browser.ts";
import { bundlePrograms } from "./test-programs.ts";
import { writeTestQueue } from "./test-queue.ts";
import { openTestServer } from "./test-server.ts";

// `npm test`: checks, browser files, then every test on its own PostgreSQL, then the slowest files and one line of counts.
// `npm test -- FILE …` runs only these files, without the checks, and `npm test -- --changed` those that a change can affect.

offerHelp(`npm test [-- FILE …]

Runs the type check, the linter and every test. With files, runs only these, without the checks:

  npm test -- src/server/config.test.ts

TEST_DATABASE_URL uses your own PostgreSQL, BROWSER_PATH your own Chromium.`);

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
const SLOWEST_SHOWN = 10;
/** How long each file took when it last ran here. */
const DURATIONS_FILE = join(import.meta.dirname, "../node_modules/.cache/bookflow-test-durations.json");
// Two more than there are CPUs, since some files are always waiting for a process, a time limit or the browser.
const PROCESSES = Math.min(availableParallelism() + 2, FILES_AT_ONCE_MAX);

type Counts = { passed: number; failed: number; skipped: number };

// Each process loads most of the service, so compiled code is cached for the others and for the next run.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "../node_modules/.cache/bookflow");

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stopping.abort());
AbortSignal.timeout(RUN_LIMIT_MS).addEventListener("abort", () => {
  console.log(`The run was stopped because it took more than ${RUN_LIMIT_MS / 60_000} minutes.`);
  stopping.abort();
});

const durations = new Map<string, number>();
const counts = await runAll();
reportDurations();
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exit(counts.failed === 0 && counts.passed > 0 && !stopping.signal.aborted ? 0 : 1);

async function runAll(): Promise<Counts> {
  const given = process.argv[2] === "--changed" ? listChangedTests() : process.argv.slice(2);
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

/** What doesn't fit into a minute is named, so that it can be run too. */
function listChangedTests(): string[] {
  const changed = listChanged();
  const affected = findAffected(changed, readImports());
  const { chosen, left } = chooseWithin(affected, { changed, durations: readDurations(), processes: PROCESSES });
  if (left.length > 0)
    console.log(`Also affected, but farther away: ${left.length} files, first ${left.slice(0, 5).join(" ")}`);
  return chosen;
}

function readDurations(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(DURATIONS_FILE, "utf8"));
  } catch {
    // The first run here.
    return {};
  }
}

function reportDurations(): void {
  mkdirSync(dirname(DURATIONS_FILE), { recursive: true });
  writeFileSync(DURATIONS_FILE, JSON.stringify({ ...readDurations(), ...Object.fromEntries(durations) }));
  if (durations.size <= SLOWEST_SHOWN) return;
  const slowest = [...durations].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
  console.log("The slowest files:");
  for (const [file, ms] of slowest) console.log(`${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}`);
}

async function runTests(files: string[]): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  const events = run({
    files: writeTestQueue(files, { processes: PROCESSES, fileLimitMs: FILE_LIMIT_MS }),
    concurrency: PROCESSES,
    execArgv: [
      // Collects garbage less often: 60 MB more per process, 3% less time.
      "--max-semi-space-size=64",
      "--initial-old-space-size=512",
      `--import=${new URL("follow-tests.ts", import.meta.url)}`,
    ],
    signal: stopping.signal,
  });
  for (const event of ["test:pass", "test:fail"] as const)
    events.on(event, ({ name, nesting, details }) => {
      if (nesting === 0 && files.includes(name)) durations.set(name, Math.round(details.duration_ms));
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
