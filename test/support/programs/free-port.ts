import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Lower than the ports that operating systems give out: one of those may be taken by the time a program listens on it. */
const PORTS = { min: 20_000, max: 30_000 };

/** Ports returned so far. Their programs may not listen on them yet. */
const given = new Set<number>();

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.min, PORTS.max);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
  server.close();
  await once(server, "close");
  return true;
}
