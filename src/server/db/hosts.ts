import type { Log } from "../lib/log/log.ts";
import type { DatabaseUnavailable } from "./database-unavailable.ts";
import { SilenceWatch } from "./silence-watch.ts";

// The servers that a pool may connect to. On plain PostgreSQL there is one. On Citus any server answers any statement, so a
// pool may use several, and goes on with the others while one is down.

/** A server that refused a connection is tried again after this long, or earlier if all have refused. */
const REFUSED_MS = 5_000;

export class Host {
  readonly url: string;
  readonly watch: SilenceWatch;
  refusedAtMs = Number.NEGATIVE_INFINITY;

  constructor(url: string, watch: SilenceWatch) {
    this.url = url;
    this.watch = watch;
  }

  get isUsable(): boolean {
    return this.watch.silence === null && performance.now() - this.refusedAtMs >= REFUSED_MS;
  }
}

type HostsParts = {
  readonly probe: (url: string) => Promise<void>;
  readonly isSomeoneWaiting: (host: Host) => boolean;
  readonly onSilent: (host: Host, reason: DatabaseUnavailable) => void;
  readonly onRefusal: () => void;
  readonly log: Log;
};

export class Hosts {
  readonly #all: readonly Host[];
  readonly #onRefusal: () => void;
  /** Processes that start together begin with different servers. */
  #next = process.pid;
  /** How often a server has refused a connection. */
  refusals = 0;

  /** The last of the URLs is used only while the others are down. */
  constructor(urls: readonly string[], parts: HostsParts) {
    this.#onRefusal = parts.onRefusal;
    this.#all = urls.map((url) => {
      const host: Host = new Host(
        url,
        new SilenceWatch({
          probe: () => parts.probe(url),
          isSomeoneWaiting: () => parts.isSomeoneWaiting(host),
          onSilent: (reason) => parts.onSilent(host, reason),
          log: parts.log,
        }),
      );
      return host;
    });
  }

  get count(): number {
    return this.#all.length;
  }

  /** Why no statement can run now; null while one of the servers answers. */
  get silence(): DatabaseUnavailable | null {
    const silences = this.#all.map(({ watch }) => watch.silence);
    return silences.every((silence) => silence !== null) ? (silences[0] ?? null) : null;
  }

  /** For a new connection: one after the other. */
  choose(): Host {
    const usable = this.#all.filter((host) => host.isUsable);
    const preferred = usable.filter((host) => host !== this.#all.at(-1));
    const from = [preferred, usable, this.#all].find((hosts) => hosts.length > 0) ?? [];
    return from[this.#next++ % from.length] as Host;
  }

  /** The same database, user and options at another address. */
  toUrl(address: string): string {
    const [{ url } = { url: "" }] = this.#all;
    return url.replace(/^([a-z]+:\/\/(?:[^@/]*@)?)[^/?]*/, `$1${address}`);
  }

  noteRefusal(host: Host): void {
    host.refusedAtMs = performance.now();
    this.refusals++;
    this.#onRefusal();
  }

  tick(): void {
    for (const { watch } of this.#all) watch.tick();
  }
}
