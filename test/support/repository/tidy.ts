import { dirname, join } from "node:path/posix";
import {
  ALLOWED_IMPORTS,
  BANNED_FILE_WORDS,
  BANNED_MARKS,
  BANNED_TEXTS,
  ENTRY_POINTS,
  FUNCTION_LINES_MAX,
  LINES_MAX,
  LONG_FUNCTIONS,
  RESERVED_FILES,
  RESERVED_PACKAGES,
} from "./tidy-rules.ts";

// Applies the rules in tidy-rules.ts. Each check takes the files in src/ by path and returns its faults as sentences.

export type SourceFiles = ReadonlyMap<string, string>;

export function findImportFaults(files: SourceFiles): string[] {
  return eachProgramFile(files, (path, text) => {
    const rule = ALLOWED_IMPORTS.find(({ from }) => covers(from, path));
    if (!rule) return [`${path} is in a folder that ALLOWED_IMPORTS does not list`];
    return listImports(path, text).flatMap((target) => {
      if (target.startsWith("test/")) return [`${path} must not import ${target}`];
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

/** Every file, including tests, must have a name that says what it holds. */
export function findBannedFileNames(paths: Iterable<string>): string[] {
  return [...paths].flatMap((path) => {
    const words = path.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
    const banned = BANNED_FILE_WORDS.exec(words)?.[1];
    return banned === undefined ? [] : [`${path} is called ${banned}: name it for what it holds`];
  });
}

export function findLongFunctions(files: SourceFiles, allowed = LONG_FUNCTIONS): string[] {
  const faults = eachProgramFile(files, (path, text) => {
    const linesMax = allowed.find(({ file }) => file === path)?.linesMax ?? FUNCTION_LINES_MAX;
    return listFunctions(text)
      .filter(({ lines }) => lines > linesMax)
      .map(({ name, lines }) => `${path} has ${name} of ${lines} lines, more than ${linesMax}`);
  });
  const unneeded = allowed.filter(({ file }) =>
    listFunctions(files.get(file) ?? "").every(({ lines }) => lines <= FUNCTION_LINES_MAX),
  );
  return [...faults, ...unneeded.map(({ file }) => `${file} needs no place in LONG_FUNCTIONS`)];
}

/** Matches a declaration, an arrow function with a body in braces or with its parameters on separate lines, and a method. */
const FUNCTION_STARTS = [
  /^(?<indent> *)(?:export )?(?:async )?function\*? (?<name>\w+)/,
  /^(?<indent> *)(?:export )?const (?<name>\w+)(?:: [^=]+)? = (?:async )?(?:\(.*=> \{|\([^)]*|\w+ => \{)$/,
  /^(?<indent> *)(?:(?:async|static|get|set) )*(?<name>#?\w+)\(.*\{$/,
];
const STATEMENTS = new Set(["if", "for", "while", "switch", "catch"]);

/** Relies on our formatter: a function's first and last lines have the same indentation. */
function listFunctions(text: string): { name: string; lines: number }[] {
  const lines = text.split("\n");
  return lines.flatMap((line, start) => {
    const match = FUNCTION_STARTS.map((pattern) => pattern.exec(line)).find((found) => found !== null);
    const { indent = "", name } = match?.groups ?? {};
    if (name === undefined || STATEMENTS.has(name)) return [];
    const length = lines.slice(start).findIndex((each) => each.startsWith(`${indent}}`) && /^ *\}[;,)]*$/.test(each));
    return length === -1 ? [] : [{ name, lines: length + 1 }];
  });
}

export function findDeadFiles(files: SourceFiles): string[] {
  const used = reach(files, ENTRY_POINTS);
  return eachProgramFile(files, (path) => (used.has(path) ? [] : [`${path} is used by nothing`]));
}

/** `users` are the files outside src/ that may use its exports. */
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

/** "path name" of each export; `*` for all of a file's. */
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

function isForTests(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}

/** Paths from the project root for our own files, names for packages. */
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

/** Good enough for our own code: a URL in a string has a colon, not a space, before its slashes. */
function withoutComments(path: string, text: string): string {
  if (path.endsWith(".sql")) return text.replaceAll(/--.*$/gm, "");
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "");
}
