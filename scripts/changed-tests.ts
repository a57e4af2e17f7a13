import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

// `npm test -- --changed`: the test files that a change can affect, as far as they fit into a minute. What is nearest to the change
// by imports comes first.

const ROOT = join(import.meta.dirname, "..");
/** Always: they read files without importing them. */
const ALWAYS = ["test/tidy.test.ts", "test/generated.test.ts"];
/** What starts what: a change on the left affects the file on the right, and whoever imports it. */
const STARTED: readonly (readonly [start: string, by: string])[] = [
  ["migrations/", "src/server/db/migrate.ts"],
  ["src/dashboard/", "test/support/browser/dashboard.ts"],
  ["src/widget/", "test/support/browser/embedded.ts"],
  ["src/docs/", "src/server/docs/routes.ts"],
  ["connectors/google-sheets/", "test/support/programs/run-apps-script.ts"],
  ["connectors/n8n/", "test/support/programs/n8n.ts"],
  ["docs/", "test/docs.test.ts"],
  ["README.md", "test/docs.test.ts"],
];
/** What the checks before and the start of the servers leave of a minute. */
const BUDGET_MS = 40_000;
/** For a file that has not run here yet. */
const UNKNOWN_MS = 5_000;

type Files = ReadonlyMap<string, readonly string[]>;

/** Paths from the root: what differs from main, committed or not. */
export function listChanged(): string[] {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
  const base = git("merge-base", "HEAD", "main");
  const text = `${git("diff", "--name-only", base)}\n${git("ls-files", "--others", "--exclude-standard")}`;
  return [...new Set(text.split("\n").filter((path) => path !== ""))];
}

export function readImports(): Files {
  const paths = globSync("{src,test,scripts,sdk,bench,faults}/**/*.{ts,tsx}", { cwd: ROOT });
  return new Map(
    paths.map((path) => {
      const text = readFileSync(join(ROOT, path), "utf8");
      const named = [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"([.#][^"]+)"/g)].map(([, name = ""]) => name);
      return [path, named.map((name) => toPath(path, name))];
    }),
  );
}

function toPath(importer: string, name: string): string {
  if (name.startsWith("#contract/")) return name.replace("#contract/", "src/contract/");
  return relative(ROOT, resolve(ROOT, dirname(importer), name));
}

/** The affected test files, nearest first, with their distance to the change. */
export function findAffected(changed: readonly string[], imports: Files): Map<string, number> {
  const importers = new Map<string, string[]>();
  for (const [path, imported] of imports)
    for (const each of imported) importers.set(each, [...(importers.get(each) ?? []), path]);
  const seen = new Set(changed);
  const found = new Map<string, number>();
  let reached: readonly string[] = changed;
  for (let distance = 0; reached.length > 0; distance++) {
    for (const path of reached) if (/\.test\.tsx?$/.test(path) && imports.has(path)) found.set(path, distance);
    const next = reached.flatMap((path) => [
      ...(importers.get(path) ?? []),
      ...STARTED.flatMap(([start, by]) => (path.startsWith(start) ? [by] : [])),
    ]);
    reached = [...new Set(next)].filter((path) => !seen.has(path));
    for (const path of reached) seen.add(path);
  }
  return found;
}

type Choice = {
  readonly changed: readonly string[];
  readonly durations: Readonly<Record<string, number>>;
  readonly processes: number;
};

/**
 * As many of the nearest as fit. Among equals, those named like the folder of a change come first, then short ones. Files that are
 * changed themselves and the very nearest run in any case.
 */
export function chooseWithin(
  affected: ReadonlyMap<string, number>,
  { changed, durations, processes }: Choice,
): { chosen: string[]; left: string[] } {
  const costOf = (path: string) => durations[path] ?? UNKNOWN_MS;
  const folders = changed.map((path) => basename(dirname(path)));
  const rankOf = (path: string) => (folders.some((folder) => basename(path).includes(folder)) ? 0 : 1);
  const nearest = [...affected].sort(
    ([a, from], [b, to]) => from - to || rankOf(a) - rankOf(b) || costOf(a) - costOf(b),
  );
  const chosen = new Set(ALWAYS);
  const left: string[] = [];
  let budget = BUDGET_MS * processes - ALWAYS.reduce((total, path) => total + costOf(path), 0);
  for (const [path, distance] of nearest) {
    if (chosen.has(path)) continue;
    if (distance > 0 && path !== nearest[0]?.[0] && costOf(path) > Math.min(budget, BUDGET_MS)) left.push(path);
    else {
      chosen.add(path);
      budget -= costOf(path);
    }
  }
  return { chosen: [...chosen], left };
}
