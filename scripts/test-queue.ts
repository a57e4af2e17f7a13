import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// Loading the service takes longer than most files' tests, so a few processes take the files from one queue: each runs the next
// file as a test that the file's own tests and hooks belong to. All processes are busy until the last file has started. A file
// must not depend on which files its process ran before.

/** Removed at the end. Two runs in one checkout don't meet. */
const FOLDER = join(import.meta.dirname, `../node_modules/.cache/bookflow-tests-${process.pid}`);

const SHARING = pathToFileURL(join(import.meta.dirname, "../test/support/after-last-file.ts")).href;

/** Writes one module per process, and returns their paths. Files start in the given order. */
export function writeTestQueue(
  files: readonly string[],
  { processes, fileLimitMs }: { processes: number; fileLimitMs: number },
): string[] {
  mkdirSync(FOLDER, { recursive: true });
  process.once("exit", () => rmSync(FOLDER, { recursive: true, force: true }));
  const count = Math.min(processes, files.length);
  return Array.from({ length: count }, (_, n) => {
    const path = join(FOLDER, `${n}.test.mjs`);
    writeFileSync(path, toModule(files, fileLimitMs));
    return path;
  });
}

/** Whoever creates a file's ticket first runs it. */
function toModule(files: readonly string[], fileLimitMs: number): string {
  const addresses = files.map((file) => [file, pathToFileURL(resolve(file)).href]);
  return `import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { endSharing } from ${JSON.stringify(SHARING)};

function isFree(index) {
  try {
    writeFileSync(${JSON.stringify(FOLDER)} + "/" + index, "", { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

// Tests start when their file is loaded. Otherwise node:test would no longer wait for tests that are added after an await,
// if those before it had already ended: it would cancel them.
function load(address) {
  return (context) => {
    const loading = import(address);
    context.before(() => loading);
    return loading;
  };
}

for (const [index, [file, address]] of ${JSON.stringify(addresses, null, 2)}.entries())
  if (isFree(index)) await test(file, { timeout: ${fileLimitMs} }, load(address));
await endSharing();
`;
}
