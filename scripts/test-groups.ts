import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// Loading the service takes longer than most files' tests, so files of one folder share a process: it runs them one after the
// other, each as a test that the file's own tests and hooks belong to.

const FOLDER = join(import.meta.dirname, "../node_modules/.cache/bookflow-tests");
const GROUP_FILES_MAX = 8;
/** Far above what any file takes: something hangs, and the others must run all the same. */
const FILE_LIMIT_MS = 4 * 60_000;

/** Writes a file for each group, and returns their paths in the order of the files that are given. */
export function groupTestFiles(files: readonly string[]): string[] {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const byFolder = Map.groupBy(files, dirname);
  return [...byFolder.values()].flatMap(split).map((group, n) => {
    const path = join(FOLDER, `${n}.test.mjs`);
    writeFileSync(path, toModule(group));
    return path;
  });
}

/** Neighbours in name are often alike in length, so they go to different groups. */
function split(files: string[]): string[][] {
  const count = Math.ceil(files.length / GROUP_FILES_MAX);
  return Array.from({ length: count }, (_, n) => files.filter((_, index) => index % count === n));
}

function toModule(files: readonly string[]): string {
  const tests = files.map((file) => {
    const address = pathToFileURL(resolve(file)).href;
    return `test(${JSON.stringify(file)}, { timeout: ${FILE_LIMIT_MS} }, () => import(${JSON.stringify(address)}));`;
  });
  return ['import { test } from "node:test";', ...tests, ""].join("\n");
}
