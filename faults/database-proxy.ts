import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type DatabaseProxy = {
  readonly port: number;
  /** Delays every chunk by this long. */
  delayMs: number;
  /** Lets nothing through; connections stay open. */
  isSilent: boolean;
  resetAll(): void;
  close(): void;
};

export async function startDatabaseProxy(target: NetConnectOpts): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      void carry(from, to).catch(() => to.destroy());
    }
  });
  async function carry(from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from) {
      if (proxy.delayMs > 0) await sleep(proxy.delayMs);
      while (proxy.isSilent && !from.destroyed) await sleep(20);
      if (!to.write(chunk)) await once(to, "drain");
    }
    to.end();
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const resetAll = () => {
    // A Unix socket connection can't be reset, only closed; the service's own connection is reset.
    for (const socket of sockets) if (socket.remotePort !== undefined) socket.resetAndDestroy();
  };
  const proxy: DatabaseProxy = {
    port: (server.address() as AddressInfo).port,
    delayMs: 0,
    isSilent: false,
    resetAll,
    close() {
      server.close();
      resetAll();
    },
  };
  return proxy;
}
