import type pg from "pg";
import { pause } from "../../lib/concurrency/pause.ts";
import type { Log } from "../../lib/log/log.ts";
import { OutageLog } from "../../lib/log/outage-log.ts";
import type { Pool } from "./pool.ts";

const RECONNECT_MS = 1_000;

/**
 * Calls back for every notification on the channel, and after every reconnection, because some may have been missed.
 * The connection can hold a session lock, which is released the moment this process dies.
 */
export type Listen = (
  pool: Pool,
  channel: string,
  onNotify: () => void,
  presence?: Presence,
) => { stop(): Promise<void> };

type Presence = {
  /** The two keys of an advisory lock. */
  readonly lock: readonly [number, number];
  /** Called with true once the lock is held, and with false once the connection is lost. */
  readonly onChange: (isHeld: boolean) => void;
};

/** Holds one connection of the pool while listening, and gets a new one if it breaks. */
export function createListen(log: Log): Listen {
  return (pool, channel, onNotify, presence) => {
    const stopping = new AbortController();
    const outage = new OutageLog(log, { failed: "database.listen_failed", resumed: "database.listen_resumed" });
    const onListening = () => {
      outage.worked();
      // Some notifications may have been missed.
      onNotify();
    };
    const ended = (async () => {
      while (!stopping.signal.aborted) {
        const { signal } = stopping;
        await listenOnce(pool, { channel, onListening, onNotify, presence, signal }).catch((error: unknown) =>
          outage.failed(error),
        );
        await pause(RECONNECT_MS, signal);
      }
    })();
    return {
      async stop() {
        stopping.abort();
        await ended;
      },
    };
  };
}

/** Until the connection breaks or the signal is aborted. */
async function listenOnce(
  pool: Pool,
  listening: {
    channel: string;
    onListening: () => void;
    onNotify: () => void;
    presence: Presence | undefined;
    signal: AbortSignal;
  },
): Promise<void> {
  const { channel, onListening, onNotify, presence, signal } = listening;
  const client = await pool.connect();
  // The error is a value here: if the statement below fails with it, nobody awaits a rejection.
  const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
  const endInOrder = () => end(null);
  const onNotification = ({ channel: from }: pg.Notification) => from === channel && onNotify();
  client.on("notification", onNotification);
  client.on("error", end);
  client.on("end", endInOrder);
  signal.addEventListener("abort", endInOrder, { once: true });
  try {
    if (presence) await holdLock(client, presence);
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    onListening();
    const error = signal.aborted ? null : await ended;
    if (error !== null) throw error;
  } finally {
    presence?.onChange(false);
    client.off("notification", onNotification);
    client.off("error", end);
    client.off("end", endInOrder);
    signal.removeEventListener("abort", endInOrder);
    // Not returned to the pool, where the connection would keep listening.
    client.release(true);
  }
}

/** With these keep-alives PostgreSQL also notices within five seconds that a machine has disappeared from the network. */
async function holdLock(client: pg.PoolClient, { lock, onChange }: Presence): Promise<void> {
  await client.query("set tcp_keepalives_idle = 2; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 3");
  await client.query("select pg_advisory_lock($1, $2)", [...lock]);
  onChange(true);
}
