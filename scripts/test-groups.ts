import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// Loading the service takes longer than most files' tests, so several files share a process: it runs them one after the other,
// each as a test that the file's own tests and hooks belong to. A file must not depend on which files it shares a process with.

const FOLDER = join(import.meta.dirname, "../node_modules/.cache/bookflow-tests");
/** Browser files take ten times as long as others, so their groups are small. */
const GROUP_FILES_MAX = { browser: 3, other: 14 };
/** Far longer than any file takes. When one hangs, the others must still run. */
const FILE_LIMIT_MS = 4 * 60_000;

/** Writes a module for each group, and returns their paths: browser groups first, because they take longest. */
export function groupTestFiles(files: readonly string[]): string[] {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const { browser = [], other = [] } = Object.groupBy(files, (file) =>
    file.startsWith("test/browser/") ? "browser" : "other",
  );
  const groups = [...split(browser, GROUP_FILES_MAX.browser), ...split(other, GROUP_FILES_MAX.other)];
  return groups.map((group, n) => {
    const path = join(FOLDER, `${n}.test.mjs`);
    writeFileSync(path, toModule(group));
    return path;
  });
}

/** Files with similar names often take equally long, so they go to different groups. */
function split(files: readonly string[], filesMax: number): string[][] {
  const count = Math.ceil(files.length / filesMax);
  return Array.from({ length: count }, (_, n) => files.filter((_, index) => index % count === n));
}

function toModule(files: readonly string[]): string {
  const tests = files.map((file) => {
    const address = pathToFileURL(resolve(file)).href;
    return `test(${JSON.stringify(file)}, { timeout: ${FILE_LIMIT_MS} }, () => import(${JSON.stringify(address)}));`;
  });
  return ['import { test } from "node:test";', ...tests, ""].join("\n");
}
