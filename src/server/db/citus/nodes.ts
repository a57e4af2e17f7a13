import { MINUTE_MS, SECOND_MS } from "#contract/durations.ts";
import { parseOrganizationId } from "#contract/ids.ts";
import type { Log } from "../../lib/log/log.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import type { DatabaseUnavailable } from "../database-unavailable.ts";
import { SilenceWatch, TICK_MS } from "../silence-watch.ts";
import { DISTRIBUTED_TABLES } from "./table-places.ts";

// On Citus all rows of an organization are on one server, and whichever server gets a statement asks that one. If it answers
// nobody, statements about its organizations would take all connections, and everyone else would wait. So every server with
// organizations has a silence watch of its own: while it is silent, only statements about its organizations fail.

const ORGANIZATIONS_REMEMBERED = 20_000;
/** An organization that moves to another server is found there after this long. */
const REMEMBERED_MS = 5 * MINUTE_MS;
/** While its server is silent, it is looked up more often: a standby may take over at another address. */
const SILENT_REMEMBERED_MS = SECOND_MS;
/** A silent server is probed until it answers, or until no statement has been about it for this long. */
const FORGOTTEN_TICKS = MINUTE_MS / TICK_MS;

const TOUCHES_ORGANIZATION = new RegExp(`\\b(?:${DISTRIBUTED_TABLES.join("|")})\\b`);

/** The server with the rows of the organization $1, as host:port. Any server knows it. No row before the tables are distributed. */
export const LOCATE = `-- prepared: locate_organization
select node.nodename || ':' || node.nodeport as address
from pg_dist_shard shard
join pg_dist_placement placement on placement.shardid = shard.shardid
join pg_dist_node node on node.groupid = placement.groupid and node.noderole = 'primary'
where shard.logicalrelid = to_regclass('visit_progress')
  and worker_hash($1::text) between shard.shardminvalue::integer and shard.shardmaxvalue::integer`;

export class Node {
  /** host:port */
  readonly address: string;
  readonly watch: SilenceWatch;
  /** Since the last statement about one of its organizations. */
  idleTicks = 0;

  constructor(address: string, watch: SilenceWatch) {
    this.address = address;
    this.watch = watch;
  }
}

type NodesParts = {
  /** Resolves if the server at this address answers the one that this process is connected to. */
  readonly probe: (address: string) => Promise<void>;
  readonly isSomeoneWaiting: (node: Node) => boolean;
  readonly onSilent: (node: Node, reason: DatabaseUnavailable) => void;
  readonly log: Log;
};

export class Nodes {
  readonly #parts: NodesParts;
  readonly #nodes = new Map<string, Node>();
  readonly #homes = new RecentMap<string, { node: Node; learnedMs: number }>(ORGANIZATIONS_REMEMBERED);

  constructor(parts: NodesParts) {
    this.#parts = parts;
  }

  /** The organization whose rows a statement reads or writes; null if it names none, or only rows that are elsewhere. */
  findOwner(text: string, values: readonly unknown[] | undefined): string | null {
    const owner = values?.find((value) => typeof value === "string" && parseOrganizationId(value) !== null);
    return typeof owner === "string" && TOUCHES_ORGANIZATION.test(text) ? owner : null;
  }

  find(owner: string): Node | null {
    const home = this.#homes.get(owner);
    if (!home) return null;
    const rememberedMs = home.node.watch.silence ? SILENT_REMEMBERED_MS : REMEMBERED_MS;
    if (home.learnedMs + rememberedMs <= performance.now()) return null;
    home.node.idleTicks = 0;
    return home.node;
  }

  learn(owner: string, address: string): Node {
    const node = this.#nodes.get(address) ?? this.#add(address);
    node.idleTicks = 0;
    this.#homes.set(owner, { node, learnedMs: performance.now() });
    return node;
  }

  tick(): void {
    for (const node of this.#nodes.values()) {
      node.watch.tick();
      // Its organizations may have a new address now. One that is still there is looked up again, which adds the server back.
      if (++node.idleTicks > FORGOTTEN_TICKS && node.watch.silence) this.#nodes.delete(node.address);
    }
  }

  #add(address: string): Node {
    const { probe, isSomeoneWaiting, onSilent, log } = this.#parts;
    let probing: Promise<void> | null = null;
    const node: Node = new Node(
      address,
      new SilenceWatch({
        // One at a time: a probe of a silent server takes seconds.
        probe: () => {
          probing ??= probe(address).finally(() => {
            probing = null;
          });
          return probing;
        },
        isSomeoneWaiting: () => isSomeoneWaiting(node),
        onSilent: (reason) => onSilent(node, reason),
        log,
      }),
    );
    this.#nodes.set(address, node);
    return node;
  }
}
