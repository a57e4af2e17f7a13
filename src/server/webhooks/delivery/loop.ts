import type { Home } from "../../db/citus/homes.ts";
import { listHomes } from "../../db/home.ts";
import type { Deps } from "../../deps.ts";
import { pause, repeat } from "../../lib/concurrency/pause.ts";
import { DELIVERIES_CHANNEL } from "../outbox/queries.ts";
import { wakeDirectly } from "../outbox/wake-workers.ts";
import { WORKER_LOCKS } from "../queue/recovery-queries.ts";
import { ClaimLoop } from "./claim-loop.ts";
import type { SenderDeps } from "./sender.ts";

// A worker's deliveries: one claim loop on plain PostgreSQL, and one for each shard group of a cluster. These share nothing, so a
// server that is down, and receivers that hang, delay no deliveries of other groups. When a group moves to another server or is split,
// its loop ends once its requests have, and loops for its new places begin.

type LoopDeps = SenderDeps & Pick<Deps, "listen">;

const FOLLOW_MS = 1_000;
/** After this long, deliveries start without the lock. If the worker then dies, its leases are taken over when they expire. */
const LOCK_WAIT_MS = 2_000;

export class DeliveryLoop {
  readonly #deps: LoopDeps;
  readonly #loops = new Map<Home, ClaimLoop>();
  /** By address. */
  readonly #servers = new Map<string, Server>();
  readonly #stopping = new AbortController();
  /** The same on every server, so that a lease that moves with its shard group is still that of a living worker. */
  readonly #workerNumber: number;
  /** Loops that claim nothing more, and whose requests have not all ended. */
  readonly #ending = new Set<Promise<void>>();
  #following: Promise<void> = Promise.resolve();
  #stopListening: () => void = () => undefined;

  constructor(deps: LoopDeps) {
    this.#deps = deps;
    this.#workerNumber = deps.random.bytes(4).readInt32BE() & 0x7fff_ffff;
  }

  start(): void {
    const { signal } = this.#stopping;
    this.#stopListening = wakeDirectly(this.#deps.db, (home, stored) => this.#loops.get(home)?.wake(stored) ?? false);
    this.#following = repeat({ periodMs: FOLLOW_MS, signal }, async () => {
      try {
        await this.#follow();
        for (const [home, loop] of this.#loops) this.#findServer(home).begin(loop);
      } catch (error) {
        this.#deps.log.error("deliveries.homes_unread", { error });
      }
    });
  }

  /** Something is due now. */
  wake(): void {
    for (const loop of this.#loops.values()) loop.wake();
  }

  /** As `stop` of each claim loop. A process that can't wait that long may exit; other workers take over its leases. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopListening();
    await this.#following;
    for (const [home, loop] of this.#loops) this.#end(home, loop);
    await Promise.all(this.#ending);
  }

  /** Resolves when every request in flight has ended and is reported. */
  async settled(): Promise<void> {
    await Promise.all([...this.#loops.values()].map((loop) => loop.settled()));
  }

  /** Recovers, claims and starts to send, without being started; returns how many requests were started. */
  async goRound(): Promise<number> {
    await this.#follow();
    const begun = await Promise.all([...this.#loops.values()].map((loop) => loop.goRound()));
    return begun.reduce((sum, count) => sum + count, 0);
  }

  async #follow(): Promise<void> {
    const homes = await listHomes(this.#deps.db);
    for (const [home, loop] of this.#loops) if (!homes.includes(home)) this.#end(home, loop);
    for (const home of homes) if (!this.#loops.has(home)) this.#loops.set(home, new ClaimLoop(this.#deps, home));
  }

  #findServer({ address, pool }: Home): Server {
    const { signal } = this.#stopping;
    const server =
      this.#servers.get(address) ?? new Server(this.#deps.listen, { pool, signal, workerNumber: this.#workerNumber });
    this.#servers.set(address, server);
    return server;
  }

  #end(home: Home, loop: ClaimLoop): void {
    this.#loops.delete(home);
    const ending = this.#stopOne(home.address, loop).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async #stopOne(address: string, loop: ClaimLoop): Promise<void> {
    await loop.stop();
    const server = this.#servers.get(address);
    // Without the lock other workers would take over the requests of the server's other loops.
    if (!server || server.forget(loop) > 0) return;
    this.#servers.delete(address);
    await server.stop();
  }
}

/** What the loops of one server share: its notifications, and the lock that shows other workers that this one lives. */
class Server {
  readonly #loops = new Set<ClaimLoop>();
  readonly #listening: { stop(): Promise<void> };
  readonly #lockTried: Promise<unknown>;
  readonly #stopping: AbortSignal;
  /** While the lock is held. */
  #workerNumber: number | null = null;

  constructor(
    listen: LoopDeps["listen"],
    { pool, signal, workerNumber }: { pool: Home["pool"]; signal: AbortSignal; workerNumber: number },
  ) {
    const { promise: held, resolve } = Promise.withResolvers<void>();
    const onNotify = () => {
      for (const loop of this.#loops) loop.wake();
    };
    const onChange = (isHeld: boolean) => {
      this.#workerNumber = isHeld ? workerNumber : null;
      for (const loop of this.#loops) loop.setWorkerNumber(this.#workerNumber);
      if (isHeld) resolve();
    };
    this.#listening = listen(pool, DELIVERIES_CHANNEL, onNotify, { lock: [WORKER_LOCKS, workerNumber], onChange });
    this.#lockTried = Promise.race([held, pause(LOCK_WAIT_MS, signal)]);
    this.#stopping = signal;
  }

  /** Starts the loop, unless it is under way. Not before the lock was tried, so that the first leases carry its number. */
  begin(loop: ClaimLoop): void {
    if (this.#loops.has(loop)) return;
    this.#loops.add(loop);
    loop.setWorkerNumber(this.#workerNumber);
    void this.#lockTried.then(() => {
      if (!this.#stopping.aborted) loop.start();
    });
  }

  /** Returns how many loops are left. */
  forget(loop: ClaimLoop): number {
    this.#loops.delete(loop);
    return this.#loops.size;
  }

  async stop(): Promise<void> {
    await this.#listening.stop();
  }
}
