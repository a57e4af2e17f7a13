import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import Fastify from "fastify";
import type { OrganizationId } from "#contract/ids.ts";
import { createLog } from "../lib/log/log.ts";
import { CsvExports, PIECE_TAKEN_MS_MAX } from "./csv-exports.ts";

type Gate = { open(): void; readonly isOpen: Promise<void> };

function makeGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, isOpen: promise };
}

/** An app that sends each organization the lines it asks for; the first piece of every file waits for the gate. */
async function makeApp({ pieceTakenMsMax = PIECE_TAKEN_MS_MAX } = {}) {
  const gate = makeGate();
  const reading: string[] = [];
  const csv = new CsvExports({ log: createLog("error", { write: () => {} }) }, pieceTakenMsMax);
  const app = Fastify();
  app.get<{ Params: { owner: string } }>("/:owner", async (request, reply) => {
    const owner = request.params.owner as OrganizationId;
    async function* write() {
      reading.push(owner);
      await gate.isOpen;
      yield `${owner}\r\n`;
    }
    return await csv.send({ request, reply }, { owner, prepare: async () => ({ fileName: owner, lines: write() }) });
  });
  app.get("/endless", async (request, reply) => {
    const owner = "endless" as OrganizationId;
    const lines = {
      *[Symbol.iterator]() {
        for (;;) yield "x".repeat(100_000);
      },
    };
    return await csv.send({ request, reply }, { owner, prepare: async () => ({ fileName: owner, lines }) });
  });
  app.get("/faulty", async (request, reply) => {
    const prepare = async () => {
      throw new Error("The database failed");
    };
    return await csv.send({ request, reply }, { owner: "faulty" as OrganizationId, prepare });
  });
  app.setErrorHandler((error: Error & { status?: number; headers?: object }, _request, reply) =>
    reply
      .code(error.status ?? 500)
      .headers({ ...error.headers })
      .send(error.message),
  );
  const get = async (owner: string) => {
    const { statusCode, headers, body } = await app.inject(`/${owner}`);
    return { status: statusCode, retryAfter: headers["retry-after"], body };
  };
  return { app, gate, reading, get };
}

/** Enough for everything that can happen without the gate. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await setImmediate();
}

test("a process sends twenty files at the same time, and refuses more with 503", async () => {
  const { gate, get } = await makeApp();
  const running = Array.from({ length: 20 }, (_, place) => get(`org_${place}`));
  await settle();
  assert.deepEqual(await get("org_other"), {
    status: 503,
    retryAfter: "15",
    body: "Too many files are being exported. Try again in a minute.",
  });
  gate.open();
  assert.deepEqual(
    (await Promise.all(running)).map(({ status, body }) => [status, body]),
    running.map((_, place) => [200, `org_${place}\r\n`]),
  );
  await settle();
  assert.equal((await get("org_other")).status, 200);
});

test("two pieces are read at the same time, of different organizations", async () => {
  const { gate, reading, get } = await makeApp();
  const running = ["org_a", "org_a", "org_b", "org_c"].map(get);
  await settle();
  assert.deepEqual(reading, ["org_a", "org_b"]);
  gate.open();
  for (const { status } of await Promise.all(running)) assert.equal(status, 200);
});

test("a file that fails, and a client that leaves, make room for others", async () => {
  const { app, gate, get } = await makeApp();
  for (let time = 0; time < 3; time++) assert.equal((await get("faulty")).status, 500);

  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  assert.ok(typeof address === "object" && address !== null);
  const clients = [];
  for (let count = 1; count <= 2; count++) {
    const client = connect(address.port, "127.0.0.1");
    client.write("GET /org_a HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(app.server, "request");
    clients.push(client);
  }
  await settle();
  assert.equal((await get("org_a")).status, 429);
  for (const client of clients) client.destroy();
  gate.open();
  while ((await get("org_a")).status !== 200) await setImmediate();
  await app.close();
});

test("a client that takes too long for a piece is cut off, and makes room for others", async (t) => {
  const { app } = await makeApp({ pieceTakenMsMax: 100 });
  t.after(async () => await app.close());
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const download = async () => await fetch(`${url}/endless`);
  // Their bodies are not read, so the files wait.
  const stalled = [await download(), await download()];
  while ((await download()).status !== 200) await setImmediate();
  for (const file of stalled) await assert.rejects(file.arrayBuffer());
});
