import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that operating systems give to whoever asks for any free one: such a port may be taken again before the
 * program that it was found for listens on it.
 */
const PORTS = { min: 20_000, max: 30_000 };

/** Nothing may listen on them yet. */
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
