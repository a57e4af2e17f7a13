import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The first Node in PATH with another version than this one, like on a machine that gets ours from npm. */
export function findOtherNode(): string | null {
  const programs = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
  const readVersion = (path: string) => execFileSync(path, ["--version"], { encoding: "utf8" }).trim();
  return programs.find((path) => existsSync(path) && readVersion(path) !== process.version) ?? null;
}
