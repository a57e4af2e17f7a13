import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** How many ports are tried, one after the other, when the first is in use. */
const PORTS_TRIED = 20;
const LOOPBACK = "127.0.0.1";

type SmallServer = { readonly port: number; readonly address: string; close(): void };

/** A server for this machine only, on the first free port starting at the given one; 0 lets the system choose. */
export async function openSmallServer(listener: RequestListener, firstPort: number): Promise<SmallServer> {
  const server = createServer(listener);
  const port = await listenFrom(server, firstPort);
  return {
    port,
    address: `http://localhost:${port}`,
    close() {
      server.close();
      // Pages listening for events would keep it open for ever.
      server.closeAllConnections();
    },
  };
}

/** Null if another program is listening there. */
export async function findFreePort(port: number): Promise<number | null> {
  const server = createServer();
  const found = await tryToListen(server, port);
  if (found !== null) {
    server.close();
    await once(server, "close");
  }
  return found;
}

async function listenFrom(server: Server, firstPort: number): Promise<number> {
  for (let port = firstPort; port < firstPort + PORTS_TRIED; port++) {
    const found = await tryToListen(server, port);
    if (found !== null) return found;
  }
  throw new Error(`None of the ports ${firstPort} to ${firstPort + PORTS_TRIED - 1} is free`);
}

async function tryToListen(server: Server, port: number): Promise<number | null> {
  try {
    server.listen(port, LOOPBACK);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return null;
    throw error;
  }
}
