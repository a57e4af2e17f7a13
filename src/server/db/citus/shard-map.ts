import { assert } from "../../lib/assert.ts";
import { hashText } from "./hash-text.ts";

// Where Citus has put the organizations, from its own catalogue. All tables of an organization are in one shard group, and a group
// is on one server. A move changes the server of a group, and a split replaces a group by several others.

/** All distributed tables are co-located with this one. Its shard stands for the group. */
export const FIRST_TABLE = "visit_progress";

/** Any server knows it. Reference tables have one shard, which is on every server. */
export const READ_SHARDS = `
  select part.logicalrelid::regclass::text as "table", shard.shardid::text as shard, part.partmethod = 'n' as "isReference",
    shard.shardminvalue::integer as min, shard.shardmaxvalue::integer as max,
    case when part.partmethod = 'h' then node.nodename || ':' || node.nodeport end as address
  from pg_dist_partition part
  join pg_dist_shard shard using (logicalrelid)
  join pg_dist_placement placement using (shardid)
  join pg_dist_node node on node.groupid = placement.groupid and node.noderole = 'primary'
  where part.partmethod = 'h' or part.repmodel = 't'`;

export type ShardRow = {
  table: string;
  shard: string;
  isReference: boolean;
  min: number | null;
  max: number | null;
  /** host:port */
  address: string | null;
};

export type ShardGroup = {
  /** Number of its shard of FIRST_TABLE. */
  readonly shard: string;
  readonly address: string;
  readonly min: number;
  /** The shard of each table, the only one of reference tables included. */
  readonly names: ReadonlyMap<string, string>;
};

export type ShardMap = { readonly groups: readonly ShardGroup[] };

export function toShardMap(rows: readonly ShardRow[]): ShardMap {
  const toName = ({ table, shard }: ShardRow): [string, string] => [table, `${table}_${shard}`];
  const references = rows.filter(({ isReference }) => isReference).map(toName);
  const ranges = Map.groupBy(
    rows.filter(({ isReference }) => !isReference),
    ({ min }) => min,
  );
  const groups = [...ranges.values()].map((shards) => {
    const first = shards.find(({ table }) => table === FIRST_TABLE);
    assert(first?.min != null && first.address, "every shard group has a shard of the first table on a server");
    const { shard, address, min } = first;
    return { shard, address, min, names: new Map([...references, ...shards.map(toName)]) };
  });
  return { groups: groups.sort((a, b) => a.min - b.min) };
}

export function findGroup({ groups }: ShardMap, owner: string): ShardGroup {
  const hash = hashText(owner);
  const group = groups.findLast(({ min }) => min <= hash);
  assert(group, "shard groups cover all hashes");
  return group;
}
