import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import type { FastifyInstance } from "fastify";
import { StartError } from "../lib/start-error.ts";

const SENTENCES: Readonly<Record<string, (address: string, portName: string) => string>> = {
  EADDRINUSE: (address, portName) =>
    `Another program is already listening on ${address}. Stop it, or set ${portName} to another number.`,
  EACCES: (address, portName) => `This user isn't allowed to listen on ${address}. Set ${portName} to 1024 or above.`,
  EADDRNOTAVAIL: (address) => `This machine has no address for ${address}. Check HOST.`,
  ENOTFOUND: (address) => `The host name in ${address} was not found. Check HOST.`,
};

/** Limits receiving a request, not sending a response. Node looks only every 30 seconds unless told otherwise. */
export const RECEIVING_LIMITS = {
  requestTimeout: 30_000,
  http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
} as const;

/** Call this before the first request: Fastify accepts no hooks after that. `portName`: the setting that has the port. */
export async function listen(
  app: FastifyInstance,
  { host, port, portName = "PORT" }: { host: string; port: number; portName?: "PORT" | "WORKER_PORT" },
): Promise<void> {
  const doors = new Doors(app);
  app.addHook("preClose", async () => doors.shut());
  app.addHook("onClose", async () => await doors.whenEmpty());
  try {
    const [first = host, ...others] = host === "localhost" ? await findAddresses(host) : [host];
    await app.listen({ host: first, port });
    for (const other of others) await doors.open(other);
  } catch (error) {
    await app.close();
    throw toStartError(error, { address: `${host}:${port}`, portName });
  }
}

/** Throws what `listen` would. Nothing keeps the port until then. */
export async function requireFreePort({ host, port }: { host: string; port: number }): Promise<void> {
  const probe = createServer();
  try {
    probe.listen({ host, port });
    await once(probe, "listening");
  } catch (error) {
    throw toStartError(error, { address: `${host}:${port}`, portName: "PORT" });
  }
  probe.close();
  await once(probe, "close");
}

/** The error itself, if people can't do anything about it. */
function toStartError(error: unknown, { address, portName }: { address: string; portName: string }): unknown {
  const sentence = SENTENCES[String((error as NodeJS.ErrnoException).code)];
  return sentence ? new StartError(sentence(address, portName), { cause: error }) : error;
}

async function findAddresses(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true });
  return [...new Set(found.map(({ address }) => address))];
}

/** A machine may resolve localhost to ::1 without being able to listen there. The first address is enough then. */
const BEARABLE = ["EADDRNOTAVAIL", "EAFNOSUPPORT"];

/**
 * The other addresses of `localhost`, usually ::1 in addition to 127.0.0.1. Fastify would open a second HTTP server for
 * them. That server would answer malformed requests in Node's words, and nobody would wait for its requests at
 * shutdown. So their connections are handed to the one existing server.
 */
class Doors {
  readonly #app: FastifyInstance;
  readonly #open: Server[] = [];
  #shut: Promise<unknown> = Promise.resolve();

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  async open(host: string): Promise<void> {
    const { server } = this.#app;
    const address = server.address();
    const door = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket));
    try {
      door.listen({ host, port: typeof address === "object" ? (address?.port ?? 0) : 0 });
      await once(door, "listening");
      this.#open.push(door);
    } catch (error) {
      if (!BEARABLE.includes(String((error as NodeJS.ErrnoException).code))) throw error;
    }
  }

  shut(): void {
    this.#shut = Promise.all(this.#open.map((door) => once(door.close(), "close")));
  }

  async whenEmpty(): Promise<void> {
    await this.#shut;
  }
}
