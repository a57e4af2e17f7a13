import { dirname, join } from "node:path/posix";
import {
  ALLOWED_IMPORTS,
  ANY_SIZE_FOLDERS,
  BANNED_FILE_WORDS,
  BANNED_IN_TESTS,
  BANNED_MARKS,
  BANNED_TEXTS,
  ENTRY_POINTS,
  FOLDER_FILES_MAX,
  FUNCTION_LINES_MAX,
  LINES_MAX,
  LONG_FUNCTIONS,
  RESERVED_FILES,
  RESERVED_PACKAGES,
} from "./tidy-rules.ts";

// Applies the rules in tidy-rules.ts. Each check takes files by path and returns their faults as sentences.

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
    const faults = applyRules(BANNED_TEXTS, path, text);
    const mark = BANNED_MARKS.exec(text)?.[0];
    return mark === undefined ? faults : [...faults, `${path} holds ${mark}: open an issue`];
  });
}

/** Takes tests and what they share. */
export function findBannedInTests(files: SourceFiles): string[] {
  return [...files].flatMap(([path, text]) => applyRules(BANNED_IN_TESTS, path, text));
}

function applyRules(rules: typeof BANNED_TEXTS, path: string, text: string): string[] {
  const code = withoutComments(path, text);
  return rules
    .filter(({ pattern, allowedIn }) => pattern.test(code) && !allowedIn.some((place) => covers(place, path)))
    .map(({ pattern, instead }) => `${path} holds ${pattern.exec(code)?.[0]}: ${instead}`);
}

export function findFullFolders(paths: Iterable<string>): string[] {
  const folders = Map.groupBy(
    [...paths].filter((path) => !isForTests(path)),
    dirname,
  );
  return [...folders]
    .filter(([folder, { length }]) => length > FOLDER_FILES_MAX && !ANY_SIZE_FOLDERS.includes(folder))
    .map(
      ([folder, { length }]) => `${folder} has ${length} files, more than ${FOLDER_FILES_MAX}: give its parts folders`,
    );
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

/**
 * A public method or field of a class whose name nothing else uses. A class that extends or implements another may have members
 * that only the other one calls.
 */
export function findDeadMembers(files: SourceFiles, users: SourceFiles): string[] {
  const members = eachProgramFile(files, (path, text) => listMembers(text).map((name) => `${path} ${name}`));
  const defined = countBy(members.map((member) => member.split(" ")[1] ?? ""));
  const used = countBy([...files, ...users].flatMap(([path, text]) => withoutComments(path, text).match(/\w+/g) ?? []));
  return members.flatMap((member) => {
    const [path, name = ""] = member.split(" ");
    return used.get(name) === defined.get(name) ? [`${path} has the member ${name}, which nothing uses`] : [];
  });
}

/** Relies on our formatter: members are indented by two spaces. */
function listMembers(text: string): string[] {
  const classes = text.matchAll(/^(?:export )?(?:abstract )?class \w+(?:<.*>)? \{\n([\s\S]*?)^\}/gm);
  const names = [...classes].flatMap(([, body = ""]) => [...body.matchAll(MEMBER)].map(([, name = ""]) => name));
  return [...new Set(names)].filter((name) => name !== "constructor");
}

const MEMBER = /^ {2}(?:(?:async|static|readonly|get|set) )*\*?(\w+)(?:[(<?:;]| =)/gm;

function countBy(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
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
