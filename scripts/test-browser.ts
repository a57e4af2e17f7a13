import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

// The browser for the tests. On Linux x64 it comes from npm, with the libraries that a bare machine lacks; @sparticuz/chromium
// has no build for other platforms. There, an installed one is used: BROWSER_PATH, or the first one found in PATH.

/** The first is Chromium without a desktop, which takes half the time. */
const NAMES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "msedge",
];

/** Tells the tests where their browser is; unpacks it once, before they run in parallel. Null if there is none. */
export async function prepareBrowser(): Promise<string | null> {
  const path = process.env["BROWSER_PATH"] || (isPackedFor() ? await unpack() : findInPath());
  if (path) process.env["BROWSER_PATH"] = path;
  return path;
}

function isPackedFor(): boolean {
  return process.platform === "linux" && process.arch === "x64";
}

async function unpack(): Promise<string> {
  const { default: packed, inflate } = await import("@sparticuz/chromium");
  const path = await packed.executablePath();
  const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  await inflate(join(dirname(entry), "../bin/al2023.tar.br"));
  process.env["BROWSER_LIBRARY_PATH"] = join(tmpdir(), "al2023/lib");
  process.env["BROWSER_FONTS_PATH"] = join(tmpdir(), "fonts");
  return path;
}

function findInPath(): string | null {
  const candidates = (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
