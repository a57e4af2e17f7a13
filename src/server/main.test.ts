import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeKey, makeOrganization } from "../../test/support/builders.ts";
import { untilSomeoneWaits } from "../../test/support/database/count-blocked.ts";
import { createTestDatabase } from "../../test/support/database/database.ts";
import { whileLocked } from "../../test/support/database/while-locked.ts";
import { CLEAN_ENVIRONMENT } from "../../test/support/programs/clean-environment.ts";

const { url, db } = await createTestDatabase();

const folder = mkdtempSync(join(tmpdir(), "bookflow-main-"));
after(() => rmSync(folder, { recursive: true }));

const SETTINGS = { DATABASE_URL: url, SECRET_KEY: "a secret key for tests, of 32 characters and more", PORT: "0" };

type Service = {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  /** Resolves with the match's first group, once standard error contains it. */
  says(pattern: RegExp): Promise<string>;
  /** Resolves once a line with this name is in the log. */
  logs(name: string): Promise<void>;
  ends(): Promise<number | null>;
};

const PROGRAM = fileURLToPath(new URL("main.ts", import.meta.url));
const DIRECTLY = [process.execPath, PROGRAM] as const;
/** As npm does. */
const IN_A_SHELL = ["sh", "-c", '"$0" "$1"; exit $?', process.execPath, PROGRAM] as const;

/** The service in its own process, which ends with the test in any case. */
function start(
  settings: Record<string, string | undefined> = {},
  [program, ...args]: readonly [string, ...string[]] = DIRECTLY,
): Service {
  const env = { ...CLEAN_ENVIRONMENT, ...SETTINGS, ...settings };
  const child = spawn(program, args, { cwd: folder, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  after(() => child.kill("SIGKILL"));
  const ended = once(child, "close").then(([code]) => code as number | null);
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  return {
    child,
    output,
    ends: () => ended,
    async logs(name) {
      while (!output.stdout.includes(`"name":"${name}"`)) await once(child.stdout, "data");
    },
    async says(pattern) {
      for (;;) {
        const found = pattern.exec(output.stderr);
        if (found) return found[1] ?? "";
        const isOver = await Promise.race([once(child.stderr, "data"), ended.then(() => "over")]);
        assert.notEqual(isOver, "over", output.stderr);
      }
    },
  };
}

function logged({ output }: Service): string[] {
  const lines = output.stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => String(JSON.parse(line).name));
}

const READY = /^Bookflow is ready at (http:\/\/localhost:[1-9][0-9]*)\n/;

test("the service prints its address, answers there, and shuts down cleanly on SIGTERM", async () => {
  const service = start();
  const address = await service.says(READY);
  assert.equal((await fetch(`${address}/readyz`)).status, 200);
  service.child.kill("SIGTERM");
  assert.equal(await service.ends(), 0);
  assert.deepEqual(
    logged(service).filter((name) => name.startsWith("service.")),
    ["service.started", "service.stopping", "service.stopped"],
  );
});

test("a request in flight is answered before shutdown, and no new one is accepted", async () => {
  const { key } = await makeKey(db, await makeOrganization(db));
  // Without background tasks, which might wait for the lock before the request does.
  const service = start({ ROLE: "web" });
  const address = await service.says(READY);
  const { answering } = await whileLocked(db, "widgets", async () => {
    const answering = fetch(`${address}/api/v1/widgets`, { headers: { authorization: `Bearer ${key}` } });
    await untilSomeoneWaits(db);
    service.child.kill("SIGINT");
    while (await isServing(address)) await untilSomeoneWaits(db);
    return { answering };
  });

  const response = await answering;
  assert.deepEqual([response.status, await response.json()], [200, { data: [] }]);
  assert.equal(await service.ends(), 0);
});

test("a signal to npm, its shell and the service counts once: the shell's exit does not cut the shutdown short", {
  skip: process.platform === "win32" && "this system has no process groups",
}, async () => {
  const { key } = await makeKey(db, await makeOrganization(db));
  const service = start({ npm_lifecycle_event: "start", ROLE: "web", LOG_LEVEL: "debug" }, IN_A_SHELL);
  const address = await service.says(READY);
  const { answering } = await whileLocked(db, "widgets", async () => {
    const answering = fetch(`${address}/api/v1/widgets`, { headers: { authorization: `Bearer ${key}` } });
    await untilSomeoneWaits(db);
    process.kill(-(service.child.pid ?? 0), "SIGTERM");
    await once(service.child, "exit");
    await service.logs("service.parent_ended");
    return { answering };
  });
  assert.equal((await answering).status, 200);
  await service.ends();
  assert.equal(logged(service).at(-1), "service.stopped");
});

test("requests that outlast the grace period are cut off", async () => {
  const { key } = await makeKey(db, await makeOrganization(db));
  const service = start({ SHUTDOWN_GRACE_MS: "1", ROLE: "web" });
  const address = await service.says(READY);
  await whileLocked(db, "widgets", async () => {
    const answering = fetch(`${address}/api/v1/widgets`, { headers: { authorization: `Bearer ${key}` } });
    await untilSomeoneWaits(db);
    service.child.kill("SIGTERM");
    await assert.rejects(answering);
  });
  await service.ends();
});

test("a worker on its own serves nothing and shuts down cleanly", async () => {
  const service = start({ ROLE: "worker" });
  await service.says(/^(Bookflow's worker is running\.)\n/);
  service.child.kill("SIGTERM");
  assert.equal(await service.ends(), 0);
});

test("each fault that prevents a start gives one line", { concurrency: 3 }, async (t) => {
  const taken = createServer().listen({ port: 0, host: "127.0.0.1" });
  await once(taken, "listening");
  after(() => taken.close());
  const port = String((taken.address() as { port: number }).port);
  writeFileSync(join(folder, "file"), "");
  // biome-ignore format: one case a line
  const cases: [name: string, settings: Record<string, string | undefined>, sentence: string][] = [
    ["settings", { PORT: "x", ROLE: "king" }, 'Bookflow can\'t start. Fix these settings:\nPORT must be a whole number from 0 to 65535, not "x"\nROLE must be one of all, web, worker, not "king"'],
    ["a port in use", { PORT: port, HOST: "127.0.0.1" }, `Another program is already listening on 127.0.0.1:${port}. Stop it, or set PORT to another number.`],
    // Nobody listens at this database's address: the port comes first.
    ["a port in use, before the database is opened", { PORT: port, HOST: "127.0.0.1", DATABASE_URL: "postgres://127.0.0.1:1/none" }, `Another program is already listening on 127.0.0.1:${port}. Stop it, or set PORT to another number.`],
    ["a worker's port in use", { ROLE: "worker", WORKER_PORT: port, HOST: "127.0.0.1" }, `Another program is already listening on 127.0.0.1:${port}. Stop it, or set WORKER_PORT to another number.`],
    ["an unknown database", { DATABASE_URL: url.replace(/test_[0-9a-f]+/, "test_none") }, 'The database at DATABASE_URL can\'t be used: database "test_none" does not exist.'],
    ["no secret key for a shared database", { SECRET_KEY: undefined }, "Bookflow can't start. Fix these settings:\nSECRET_KEY must be set when DATABASE_URL is set, and must be the same for every process"],
    ["an invalid data folder", { DATABASE_URL: undefined, DATA_DIR: join(folder, "file") }, `${folder}/file is not a folder. Set DATA_DIR to a folder.`],
  ];
  const starts = cases.map(([name, settings, sentence]) =>
    t.test(name, async () => {
      const service = start(settings);
      const code = await service.ends();
      assert.deepEqual({ code, ...service.output }, { code: 1, stdout: "", stderr: `${sentence}\n` });
    }),
  );
  await Promise.all(starts);
});

/** On a new or a kept connection: both are refused once the service is stopping. */
async function isServing(address: string): Promise<boolean> {
  try {
    return (await fetch(`${address}/healthz`)).status === 200;
  } catch {
    return false;
  }
}
