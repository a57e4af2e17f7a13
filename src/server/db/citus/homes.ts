import type { Db, Pool } from "../connections/pool.ts";
import { findGroup, type ShardGroup, type ShardMap, type ShardRow, toShardMap } from "./shard-map.ts";

/** Where an organization's statements run: on the tables of its shard group, over connections to the group's server. */
export type Home = {
  /** For reads outside a transaction, and for transactions that only read. */
  readonly reader: Db;
  /** Holds the shard group in place while a statement or transaction runs. */
  readonly writer: Db;
  /** The server's connections, for what belongs to no organization. */
  readonly pool: Pool;
  readonly address: string;
  /** Null on plain PostgreSQL. */
  readonly group: ShardGroup | null;
};

type HomesParts = {
  /** From any server that answers. */
  readonly readShards: () => Promise<ShardRow[]>;
  readonly openHome: (group: ShardGroup) => Home;
};

/** While a server can't be reached, the map is read again this often. */
const DOUBT_PAUSE_MS = 1_000;

/** Knows the map, and reads it again when a statement finds that its shard group has moved. */
export class Homes {
  readonly #parts: HomesParts;
  readonly #homes = new Map<string, Home>();
  #map: ShardMap | null = null;
  #reading: Promise<ShardMap> | null = null;
  #readMs = Number.NEGATIVE_INFINITY;
  #next = process.pid;

  constructor(parts: HomesParts) {
    this.#parts = parts;
  }

  async find(owner: string): Promise<Home> {
    return this.#open(findGroup(this.#map ?? (await this.reload()), owner));
  }

  /** Null before the map has been read. */
  findNow(owner: string): Home | null {
    return this.#map && this.#open(findGroup(this.#map, owner));
  }

  /** One for each shard group. */
  async list(): Promise<Home[]> {
    return (this.#map ?? (await this.reload())).groups.map((group) => this.#open(group));
  }

  /** One home on each server, beginning with another server each time. */
  async listServers(): Promise<Home[]> {
    const { groups } = this.#map ?? (await this.reload());
    const servers = [...new Map(groups.map((group) => [group.address, group])).values()];
    const first = this.#next++ % servers.length;
    return [...servers.slice(first), ...servers.slice(0, first)].map((group) => this.#open(group));
  }

  reload(): Promise<ShardMap> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** A server can't be reached. */
  doubt(): void {
    if (this.#readMs + DOUBT_PAUSE_MS <= performance.now()) this.reload().catch(() => undefined);
  }

  async #read(): Promise<ShardMap> {
    this.#readMs = performance.now();
    const map = toShardMap(await this.#parts.readShards());
    const known = new Set(map.groups.map(toKey));
    for (const key of this.#homes.keys()) if (!known.has(key)) this.#homes.delete(key);
    this.#map = map;
    return map;
  }

  #open(group: ShardGroup): Home {
    const key = toKey(group);
    const home = this.#homes.get(key) ?? this.#parts.openHome(group);
    this.#homes.set(key, home);
    return home;
  }
}

/** A table that is distributed later gets shards in groups that exist. */
function toKey({ shard, address, names }: ShardGroup): string {
  return `${shard} ${address} ${names.size}`;
}
