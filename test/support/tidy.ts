import { dirname, join } from "node:path/posix";
import {
  AHEAD_OF_USE,
  ALLOWED_IMPORTS,
  BANNED_MARKS,
  BANNED_TEXTS,
  ENTRY_POINTS,
  LINES_MAX,
  RESERVED_FILES,
  RESERVED_PACKAGES,
} from "./tidy-rules.ts";

// Applies the rules of tidy-rules.ts. Each check takes the files of src/ by path and returns its faults as sentences.

export type SourceFiles = ReadonlyMap<string, string>;

export function findImportFaults(files: SourceFiles): string[] {
  return eachProgramFile(files, (path, text) => {
    const rule = ALLOWED_IMPORTS.find(({ from }) => covers(from, path));
    if (!rule) return [`${path} lies in a folder that ALLOWED_IMPORTS does not know`];
    return listImports(path, text).flatMap((target) => {
      if (!target.startsWith("src/")) {
        const reserved = RESERVED_PACKAGES.filter((each) => each.package.test(target));
        return reserved.every(({ importers }) => importers.some((importer) => covers(importer, path)))
          ? []
          : [`${path} must not import the package ${target}`];
      }
      const isAllowed = [rule.from, ...rule.to].some((allowed) => covers(allowed, target));
      const reserved = RESERVED_FILES.filter(({ file }) => file.test(target));
      const isReserved = reserved.some(({ importers }) => !importers.some((importer) => covers(importer, path)));
      return isAllowed && !isReserved ? [] : [`${path} must not import ${target}`];
    });
  });
}

export function findBannedTexts(files: SourceFiles): string[] {
  return [...files].flatMap(([path, text]) => {
    if (isForTests(path)) return [];
    const code = withoutComments(path, text);
    const faults = BANNED_TEXTS.filter(
      ({ pattern, allowedIn }) => pattern.test(code) && !allowedIn.some((place) => covers(place, path)),
    ).map(({ pattern, instead }) => `${path} holds ${pattern.exec(code)?.[0]}: ${instead}`);
    const mark = BANNED_MARKS.exec(text)?.[0];
    return mark === undefined ? faults : [...faults, `${path} holds ${mark}: open an issue`];
  });
}

export function findLongFiles(files: SourceFiles): string[] {
  return eachProgramFile(files, (path, text) => {
    const lines = text.split("\n").length - 1;
    return lines > LINES_MAX ? [`${path} has ${lines} lines, more than ${LINES_MAX}`] : [];
  });
}

export function findDeadFiles(files: SourceFiles, ahead = AHEAD_OF_USE): string[] {
  const used = reach(files, ENTRY_POINTS);
  const unused = eachProgramFile(files, (path) => (used.has(path) ? [] : [path]));
  const early = unused.filter((path) => ahead.some(({ place }) => covers(place, path)));
  const usedByEarly = reach(files, early);
  return [
    ...unused.filter((path) => !usedByEarly.has(path)).map((path) => `${path} is used by nothing`),
    ...ahead
      .filter(({ place }) => !unused.some((path) => covers(place, path)))
      .map(({ place }) => `${place} needs no place in AHEAD_OF_USE`),
  ];
}

/** `users` are the files outside of src/ that may use what it exports. */
export function findDeadExports(files: SourceFiles, users: SourceFiles): string[] {
  const used = new Set([...files, ...users].flatMap(([path, text]) => listImportedNames(path, text)));
  return [...files].flatMap(([path, text]) => {
    const isTest = /\.test\.tsx?$/.test(path);
    if (isTest || used.has(`${path} *`)) return [];
    return [...text.matchAll(EXPORTED_NAME)]
      .filter(([, name]) => !used.has(`${path} ${name}`))
      .map(([, name]) => `${path} exports ${name}, which nothing imports`);
  });
}

const EXPORTED_NAME = /^export (?:async )?(?:type|function\*?|const|class) (\w+)/gm;

/** "path name" of each; `*` for all of a file. */
function listImportedNames(path: string, text: string): string[] {
  const found = text.matchAll(/^(?:import|export) (?:type )?(?:\w+, )?(?:\{([^}]*)\}|\*.*?) from "([^"]+)"/gm);
  const named = [...found].flatMap(([, names = "*", from = ""]) =>
    names.split(",").map((name) => `${toPath(path, from)} ${/^\s*(?:type )?(\*|\w+)/.exec(name)?.[1]}`),
  );
  const dynamic = [...text.matchAll(/\bimport\("([^"]+)"\)/g)].map(([, from = ""]) => `${toPath(path, from)} *`);
  return [...named, ...dynamic];
}

function reach(files: SourceFiles, starts: Iterable<string>): Set<string> {
  const reached = new Set<string>();
  const waiting = [...starts];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const text = files.get(path);
    if (text === undefined || reached.has(path)) continue;
    reached.add(path);
    waiting.push(...listImports(path, text));
  }
  return reached;
}

function eachProgramFile(files: SourceFiles, check: (path: string, text: string) => string[]): string[] {
  return [...files].flatMap(([path, text]) => (/\.tsx?$/.test(path) && !isForTests(path) ? check(path, text) : []));
}

/** Tests, and what only they use: conformance suites, and what lies beside them in a folder called testing. */
function isForTests(path: string): boolean {
  return /\.test\.tsx?$|\/testing\/|\/conformance\.ts$/.test(path);
}

/** Paths from the root of the project for our own files, names for packages. */
function listImports(path: string, text: string): string[] {
  const found = text.matchAll(/^(?:import|export|\})[^"';]*?from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm);
  return [...found].map(([, from, bare, dynamic]) => toPath(path, from ?? bare ?? dynamic ?? ""));
}

function toPath(importer: string, name: string): string {
  if (name.startsWith("#contract/")) return name.replace("#", "src/");
  return name.startsWith(".") ? join(dirname(importer), name) : name;
}

function covers(place: string, path: string): boolean {
  return place.endsWith("/") ? path.startsWith(place) : path === place;
}

/** Good enough for our own code: an address in a text has a colon, not a space, before its slashes. */
function withoutComments(path: string, text: string): string {
  if (path.endsWith(".sql")) return text.replaceAll(/--.*$/gm, "");
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "");
}
