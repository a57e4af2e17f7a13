import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { openDb, type Pool } from "../src/server/db/connections/pool.ts";
import { systemClock } from "../src/server/lib/time/clock.ts";
import { makeWidget } from "../test/support/builders.ts";
import {
  type CitusCluster,
  type CitusNode,
  createDatabase,
  queryOnce,
} from "../test/support/database/citus-cluster.ts";
import { readAnalytics } from "../test/support/funnel/analytics.ts";
import type { Eraser } from "./eraser.ts";
import type { Load } from "./load.ts";
import type { Receiver } from "./receiver.ts";
import type { Service } from "./service.ts";

// What happens to a Citus cluster while cluster.ts sends load.

const FAULT_MS = 12_000;
const MOVES = 3;
const MANY_MOVES = 50;
const CLI = fileURLToPath(new URL("../src/server/cli/main.ts", import.meta.url));
const HISTORY_DAYS = 730;
const HISTORY_VISITS = 200_000;

export type Business = {
  readonly owner: OrganizationId;
  readonly node: CitusNode;
  readonly eventWidgets: readonly WidgetId[];
  readonly bookingWidgets: readonly WidgetId[];
  readonly load: Load;
  readonly receiver: Receiver;
  readonly eraser: Eraser;
};

export type Stage = {
  readonly cluster: CitusCluster;
  /** For the operator's statements, which may take minutes. */
  readonly coordinatorUrl: string;
  readonly pool: Pool;
  readonly first: Business;
  readonly second: Business;
  readonly services: readonly Service[];
  /** Environment of the service's processes and commands. */
  readonly settings: Readonly<Record<string, string>>;
};

/** From docs/scale.md: each shard group into two on its server. */
const SPLITS = `
  select format('select citus_split_shard_by_split_points(%s, array[''%s''], array[%s, %s], ''block_writes'')',
    shardid, (shardminvalue::bigint + shardmaxvalue::bigint) / 2, nodeid, nodeid) as split
  from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
  where logicalrelid = 'visit_progress'::regclass`;

export type ClusterFault = { readonly name: string; readonly isSpared: boolean; happen(stage: Stage): Promise<void> };

/** `isSpared`: the second organization must not notice. */
export const CLUSTER_FAULTS: readonly ClusterFault[] = [
  {
    name: "a server is killed and comes back",
    isSpared: true,
    async happen({ first: { node } }) {
      await node.kill();
      await sleep(FAULT_MS);
      await node.start();
    },
  },
  {
    name: "a server hangs and resumes",
    isSpared: true,
    async happen({ first: { node } }) {
      node.hang();
      await sleep(FAULT_MS);
      node.resume();
    },
  },
  {
    name: "the coordinator restarts",
    isSpared: false,
    async happen({ cluster }) {
      await cluster.nodes[0]?.stop();
      await cluster.nodes[0]?.start();
    },
  },
  {
    name: "the coordinator is away for a minute",
    isSpared: false,
    async happen({ cluster, first, second }) {
      const [coordinator] = cluster.nodes;
      await coordinator?.kill();
      try {
        await sleep(FAULT_MS);
        const before = [first, second].map(countWork);
        const refused = first.load.counts.unavailable + second.load.counts.unavailable;
        await sleep(MINUTE_MS - FAULT_MS);
        const still = [first, second].flatMap((business, n) =>
          Object.entries(countWork(business)).filter(([kind, count]) => count === before[n]?.[kind]),
        );
        if (still.length > 0) throw new Error(`Nothing happened meanwhile: ${still.map(([kind]) => kind)}`);
        const more = first.load.counts.unavailable + second.load.counts.unavailable - refused;
        if (more > 0) throw new Error(`Meanwhile ${more} requests got 503`);
      } finally {
        await coordinator?.start();
      }
    },
  },
  {
    name: "a large organization gets a shard of its own",
    isSpared: false,
    async happen({ coordinatorUrl, first: { owner } }) {
      const isolate = `isolate_tenant_to_new_shard('visit_progress', '${owner}'::text, 'CASCADE', 'block_writes')`;
      await queryOnce(coordinatorUrl, `select ${isolate}`);
      await requireOwnShard(coordinatorUrl, owner);
    },
  },
  {
    name: "a large organization gets a shard of its own on another server, without blocking writes",
    isSpared: false,
    async happen({ coordinatorUrl, second: { owner } }) {
      await queryOnce(
        coordinatorUrl,
        `select citus_split_shard_by_split_points(shard.shardid, array[(hash - 1)::text, hash::text],
           array_fill((select min(nodeid) from pg_dist_node where shouldhaveshards and groupid <> placement.groupid), array[3]),
           'force_logical')
         from worker_hash('${owner}'::text) hash, pg_dist_shard shard join pg_dist_placement placement using (shardid)
         where logicalrelid = 'visit_progress'::regclass and hash between shardminvalue::integer and shardmaxvalue::integer`,
      );
      await requireOwnShard(coordinatorUrl, owner);
    },
  },
  {
    name: "an organization moves to another server and back",
    isSpared: false,
    async happen(stage) {
      await whileIdleMayLast(stage, async () => {
        for (let n = 0; n < MOVES; n++) await moveOnce(stage.coordinatorUrl, stage.first.owner);
      });
    },
  },
  {
    name: "two organizations move fifty times",
    isSpared: false,
    async happen(stage) {
      const { coordinatorUrl, first, second } = stage;
      await whileIdleMayLast(stage, async () => {
        for (let n = 0; n < MANY_MOVES / 2; n++)
          for (const { owner } of [first, second]) await moveOnce(coordinatorUrl, owner);
      });
    },
  },
  {
    // Then both organizations move there and back, or back and there, while web processes are connected to a third server.
    name: "a server is added, and shards move to it",
    isSpared: false,
    async happen(stage) {
      const { cluster, coordinatorUrl, first, second } = stage;
      const added = await cluster.add();
      const url = toServerUrl(stage, added);
      await createDatabase(new URL(url));
      await queryOnce(url, "create extension citus");
      await queryOnce(coordinatorUrl, `select citus_add_node('127.0.0.1', ${added.port})`);
      for (const { split } of await queryOnce<{ split: string }>(coordinatorUrl, SPLITS))
        await queryOnce(coordinatorUrl, split);
      await whileIdleMayLast(stage, async () => {
        await rebalance(coordinatorUrl, added);
        for (const { owner, node } of [first, second])
          for (let n = 0; n < 2 * MOVES; n++) await moveOnce(coordinatorUrl, owner, [node.port, added.port]);
      });
    },
  },
  {
    // Transactions of any length, on servers that end idle ones.
    name: "two years of an organization are packed again",
    isSpared: true,
    async happen({ pool, settings, first: { owner } }) {
      const widget = await makeWidget(openDb(pool), owner);
      await pool.query(
        `insert into funnel_visits (organization_id, widget_id, visit_id, started_at, viewed_at, channel, source,
           campaign, page, device, country)
         select $1, $2, gen_random_uuid(), at, at, n % 15, n % 200, n % 50, n % 40, n % 3, n % 7
         from generate_series(1, ${HISTORY_VISITS}) n, lateral (
           select now() - n * interval '${HISTORY_DAYS} days' / ${HISTORY_VISITS} as at) moment`,
        [owner, widget],
      );
      const env = { ...process.env, ...settings };
      await promisify(execFile)(process.execPath, [CLI, "stats", "rebuild", "--org", owner], { env });
      const { totals } = await readAnalytics(openDb(pool), owner, {
        days: HISTORY_DAYS + 1,
        now: systemClock.now(),
        widgetId: widget,
      });
      if (totals.views !== HISTORY_VISITS) throw new Error(`${totals.views} of ${HISTORY_VISITS} visits counted`);
    },
  },
  {
    // The last one: the first organization's server is gone for good.
    name: "a server is lost, and its standby takes over",
    isSpared: true,
    async happen(stage) {
      const { cluster, coordinatorUrl } = stage;
      const { node } = stage.first;
      const standby = await cluster.addStandby(node);
      // Otherwise the standby may lack what was committed last.
      await queryOnce(toServerUrl(stage, node), "alter system set synchronous_standby_names = '*'");
      await queryOnce(toServerUrl(stage, node), "select pg_reload_conf()");
      const followers = "select from pg_stat_replication where sync_state = 'sync'";
      while ((await queryOnce(toServerUrl(stage, node), followers)).length === 0) await sleep(200);
      await sleep(2_000);
      await node.kill();
      await sleep(FAULT_MS);
      await queryOnce(toServerUrl(stage, standby), "select pg_promote()");
      await queryOnce(
        coordinatorUrl,
        `select citus_update_node(nodeid, '127.0.0.1', ${standby.port}) from pg_dist_node where nodeport = ${node.port}`,
      );
    },
  },
];

function toServerUrl({ coordinatorUrl }: Stage, { address }: CitusNode): string {
  return Object.assign(new URL(coordinatorUrl), { host: address }).href;
}

/** As docs/scale.md says for moves: a move keeps its snapshot in a transaction that is idle for as long as the copy takes. */
async function whileIdleMayLast(stage: Stage, move: () => Promise<void>): Promise<void> {
  const change = async (how: string) => {
    for (const url of stage.cluster.nodes.map((node) => toServerUrl(stage, node))) {
      await queryOnce(url, `alter system ${how}`);
      await queryOnce(url, "select pg_reload_conf()");
    }
  };
  await change("set idle_in_transaction_session_timeout = 0");
  await move().finally(() => change("reset idle_in_transaction_session_timeout"));
}

/** Until the added server has its share of the shard groups. */
async function rebalance(coordinatorUrl: string, { port }: CitusNode): Promise<void> {
  await queryOnce(coordinatorUrl, "select citus_rebalance_start()");
  await queryOnce(coordinatorUrl, "select citus_rebalance_wait()");
  const [job] = await queryOnce<{ state: string; shards: number }>(
    coordinatorUrl,
    `select state::text, (select count(*)::integer from citus_shards where nodeport = ${port}
       and table_name = 'visit_progress'::regclass) as shards
     from pg_dist_background_job order by job_id desc limit 1`,
  );
  if (job?.state !== "finished" || job.shards === 0) throw new Error(`Rebalancing: ${JSON.stringify(job)}`);
}

/**
 * To another of these servers, or of all. With other writes at the same time, Citus may cancel a move as part of a deadlock; then
 * it is repeated.
 */
async function moveOnce(coordinatorUrl: string, owner: OrganizationId, ports?: readonly number[]): Promise<void> {
  // What the last move left behind is removed as soon as nobody uses it.
  await queryOnce(coordinatorUrl, "call citus_cleanup_orphaned_resources()");
  while ((await queryOnce(coordinatorUrl, "select from pg_dist_cleanup")).length > 0) {
    await sleep(500);
    await queryOnce(coordinatorUrl, "call citus_cleanup_orphaned_resources()");
  }
  const move = `
    select citus_move_shard_placement(shard, node.nodename, node.nodeport, other.nodename, other.nodeport)
    from get_shard_id_for_distribution_column('visit_progress', '${owner}'::text) shard
    join pg_dist_placement placement on shardid = shard
    join pg_dist_node node on node.groupid = placement.groupid
    join lateral (
      select nodename, nodeport from pg_dist_node
      where shouldhaveshards and groupid <> placement.groupid ${ports ? `and nodeport in (${ports})` : ""}
      order by nodeid limit 1
    ) other on true`;
  for (;;) {
    try {
      await queryOnce(coordinatorUrl, move);
      return;
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("deadlock")) throw error;
    }
  }
}

async function requireOwnShard(coordinatorUrl: string, owner: OrganizationId): Promise<void> {
  const shards = await queryOnce(
    coordinatorUrl,
    `select from pg_dist_shard where logicalrelid = 'visit_progress'::regclass
       and shardminvalue::integer = worker_hash('${owner}'::text) and shardmaxvalue = shardminvalue`,
  );
  if (shards.length !== 1) throw new Error("It did not get a shard");
}

/** What goes on without the coordinator. */
function countWork({ load, receiver }: Business): Record<string, number> {
  const { events, bookings, reads } = load.counts;
  return { events, bookings, reads, deliveries: receiver.taken.size };
}
