import assert from "node:assert/strict";
import dns from "node:dns/promises";
import { once } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { connect, createServer, type Socket } from "node:net";
import { mock, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { createTestApp } from "../../../test/support/app/app.ts";
import { findFreePort } from "../../../test/support/programs/free-port.ts";
import { buildApp } from "../app.ts";
import { StartError } from "../lib/start-error.ts";
import { listen } from "./listen.ts";

/** A second address of this machine, or null if there is none. */
async function findSecondAddress(): Promise<string | null> {
  for (const host of ["::1", "127.0.0.2"]) {
    const server = createServer().listen({ host, port: 0 });
    const isThere = await Promise.race([
      once(server, "listening").then(() => true),
      once(server, "error").then(() => false),
    ]).catch(() => false);
    server.close();
    if (isThere) return host;
  }
  return null;
}

const second = await findSecondAddress();
const withTwoAddresses = { skip: second === null && "this machine has one loopback address" };

// Each test has its own app that listens and stops; nothing here uses the database, so it is shared.
const { deps } = await createTestApp();

/** The app, with a route that answers when the test says so. */
async function createGatedApp() {
  const app = await buildApp(deps);
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  app.get("/gated", async () => {
    entered.resolve();
    await gate.promise;
    return { status: "done" };
  });
  return { app, entered: entered.promise, open: () => gate.resolve() };
}

/** Listens on localhost as on a machine where that name has two addresses. */
async function listenOnBoth(app: FastifyInstance, port = 0): Promise<number> {
  const addresses = ["127.0.0.1", second].map((address) => ({ address, family: 4 }));
  const lookup = mock.method(dns, "lookup", async () => addresses);
  syncBuiltinESMExports();
  try {
    await listen(app, { host: "localhost", port });
  } finally {
    lookup.mock.restore();
    syncBuiltinESMExports();
  }
  return portOf(app);
}

function portOf(app: FastifyInstance): number {
  const address = app.server.address();
  assert.ok(typeof address === "object" && address !== null);
  return address.port;
}

async function readToEnd(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Resolves once the address accepts no more connections. */
async function untilRefused(address: { host: string; port: number }): Promise<void> {
  for (;;) {
    const socket = connect(address);
    const isRefused = await Promise.race([
      once(socket, "connect").then(() => false),
      once(socket, "error").then(() => true),
    ]).catch((error: NodeJS.ErrnoException) => error.code === "ECONNREFUSED");
    socket.destroy();
    if (isRefused) return;
  }
}

test("every address of localhost is served by one server, until it stops", withTwoAddresses, async () => {
  const app = await buildApp(deps);
  const port = await listenOnBoth(app);
  for (const host of ["127.0.0.1", String(second)]) {
    const malformed = connect({ host, port });
    malformed.write("hello there\r\n\r\n");
    assert.match(await readToEnd(malformed), /^HTTP\/1\.1 400 [\s\S]*{"error":{"code":"bad_request"/);
    const unknown = connect({ host, port });
    unknown.write("GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert.match(await readToEnd(unknown), /^HTTP\/1\.1 404 [\s\S]*{"error":{"code":"not_found"/);
  }
  await app.close();
  await untilRefused({ host: "127.0.0.1", port });
  await untilRefused({ host: String(second), port });
});

for (const place of ["first", "second"]) {
  test(
    `requests in flight on the ${place} address of localhost finish before the service stops`,
    withTwoAddresses,
    async () => {
      const { app, entered, open } = await createGatedApp();
      const port = await listenOnBoth(app);
      const socket = connect({ host: place === "first" ? "127.0.0.1" : String(second), port });
      socket.write("GET /gated HTTP/1.1\r\nHost: x\r\n\r\n");
      await entered;

      let hasStopped = false;
      const stopped = app.close().then(() => {
        hasStopped = true;
      });
      await untilRefused({ host: "127.0.0.1", port });
      await untilRefused({ host: String(second), port });
      assert.equal(hasStopped, false);

      open();
      // The connection could be kept for another request, but then the service would wait for an idle client.
      assert.match(await readToEnd(socket), /^HTTP\/1\.1 200 OK[\s\S]*connection: close[\s\S]*{"status":"done"}$/);
      await stopped;
    },
  );
}

test("idle connections do not keep the service from stopping", withTwoAddresses, async () => {
  const app = await buildApp(deps);
  const port = await listenOnBoth(app);
  const kept = ["127.0.0.1", String(second)].map((host) => connect({ host, port }));
  for (const socket of kept) {
    socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "data");
  }
  await app.close();
  for (const socket of kept) assert.equal(await readToEnd(socket), "");
});

test("a port in use stops the start with one clear line", async () => {
  const app = await buildApp(deps);
  const other = createServer().listen({ host: "127.0.0.1", port: 0 });
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" ? Number(address?.port) : 0;
  await assert.rejects(
    listen(app, { host: "127.0.0.1", port }),
    (error) =>
      error instanceof StartError &&
      error.message ===
        `Another program is already listening on 127.0.0.1:${port}. Stop it, or set PORT to another number.`,
  );
  other.close();
});

test(
  "a port in use on the second address of localhost stops the start too, and the first is released",
  withTwoAddresses,
  async () => {
    const app = await buildApp(deps);
    // Not just any port: another process may have the same one at the first address.
    const port = await findFreePort();
    const other = createServer().listen({ host: String(second), port });
    await once(other, "listening");
    await assert.rejects(listenOnBoth(app, port), StartError);
    await untilRefused({ host: "127.0.0.1", port });
    other.close();
  },
);
