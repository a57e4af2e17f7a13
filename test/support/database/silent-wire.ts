import { once } from "node:events";
import { connect, createServer, type NetConnectOpts, type Socket } from "node:net";
import { after } from "node:test";
import pg from "pg";

// A proxy between the service and PostgreSQL on a bad day: everything reaches the server, and nothing comes back.

export type SilentWire = {
  /** The same database, through the proxy. */
  url: string;
  /** Drops responses from now on; connections stay open. */
  fallSilent(): void;
  /** Lets new connections work again. */
  mend(): void;
};

export async function openSilentWire(databaseUrl: string): Promise<SilentWire> {
  // node-postgres knows what the parts of a connection URL mean, including Unix sockets.
  const { host, port, user, password, database } = new pg.Client({ connectionString: databaseUrl });
  const target: NetConnectOpts = host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const sockets: Socket[] = [];
  let isSilent = false;
  const server = createServer((near) => {
    const far = connect(target);
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on("error", () => undefined);
    let isLost = false;
    near.pipe(far);
    far.on("data", (bytes) => {
      isLost ||= isSilent;
      if (!isLost) near.write(bytes);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The wire listens on no port");
  const credentials = `${encodeURIComponent(user ?? "")}:${encodeURIComponent(password ?? "")}`;
  return {
    url: `postgres://${credentials}@127.0.0.1:${address.port}/${database}`,
    fallSilent() {
      isSilent = true;
    },
    mend() {
      isSilent = false;
    },
  };
}
