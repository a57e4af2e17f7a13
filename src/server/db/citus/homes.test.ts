import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Kysely, sql } from "kysely";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { queryOnce } from "../../../../test/support/database/citus-cluster.ts";
import { createTestDatabase, isCluster } from "../../../../test/support/database/database.ts";
import { makeHit, visitId } from "../../../../test/support/funnel/hits.ts";
import { HitWriter, WRITER_LIMITS } from "../../analytics/record/hit-writer.ts";
import { createLog } from "../../lib/log/log.ts";
import { OutageLog } from "../../lib/log/outage-log.ts";
import type { Db } from "../connections/pool.ts";
import { EngineDialect } from "../engine.ts";
import { readAnywhere, readAtHome, table, writeAtHome } from "../home.ts";
import { inHome } from "../statements/transactions.ts";
import type { Tables } from "../tables/tables.ts";
import { hashText } from "./hash-text.ts";
import { findGroup, toShardMap } from "./shard-map.ts";

const reference = "BK-1" as Reference;
const { db, pool, url } = await createTestDatabase();
const skip = isCluster() ? false : "no cluster: npm run cluster -- --bin DIR -- npm test -- FILE";

test("texts have the hash that PostgreSQL gives them", async () => {
  const texts = fc.sample(fc.string({ unit: "binary", maxLength: 40 }), 300).filter((text) => !text.includes("\0"));
  const { rows } = await sql<{ hash: number }>`
    select hashtext(text) as hash from unnest(${texts}::text[]) with ordinality as given (text, place) order by place`.execute(
    db,
  );
  assert.deepEqual(
    texts.map(hashText),
    rows.map(({ hash }) => hash),
  );
});

const shards = [
  { table: "visit_progress", shard: "102008", isReference: false, min: -2_147_483_648, max: -1, address: "one:5432" },
  { table: "bookings", shard: "102010", isReference: false, min: -2_147_483_648, max: -1, address: "one:5432" },
  { table: "visit_progress", shard: "102009", isReference: false, min: 0, max: 2_147_483_647, address: "two:5432" },
  { table: "bookings", shard: "102011", isReference: false, min: 0, max: 2_147_483_647, address: "two:5432" },
  { table: "widgets", shard: "102001", isReference: true, min: null, max: null, address: null },
];

test("an organization's statements use the tables of its shard group", () => {
  const map = toShardMap(shards);
  const owner = ["org_1", "org_2", "org_3", "org_4"].find((text) => hashText(text) >= 0) ?? "";
  const group = findGroup(map, owner);
  assert.equal(group.address, "two:5432");
  const home = new Kysely<Tables>({ dialect: new EngineDialect(pool, pool, group) });
  assert.equal(
    sql`-- prepared: pages
    select from ${table("bookings")} join ${table("widgets", "own")} on own.id = bookings.widget_id`.compile(home).sql,
    `-- prepared: pages_102009
    select from "bookings_102011" as "bookings" join "widgets_102001" as "own" on own.id = bookings.widget_id`,
  );
  const built = home.selectFrom("bookings as b").innerJoin("widgets", "widgets.id", "b.widget_id");
  assert.equal(
    built.select("widgets.name").where("b.reference", "=", reference).forUpdate("b").compile().sql,
    'select "widgets"."name" from "bookings_102011" as "b" inner join "widgets_102001" as "widgets" on ' +
      '"widgets"."id" = "b"."widget_id" where "b"."reference" = $1 for update of "b"',
  );
  assert.equal(
    home.updateTable("bookings").set({ is_test: true }).where("bookings.reference", "=", reference).compile().sql,
    'update "bookings_102011" as "bookings" set "is_test" = $1 where "bookings"."reference" = $2',
  );
});

test("a read at home can't write", { skip }, async () => {
  const owner = await makeOrganization(db);
  const change = sql`update ${table("visit_progress")} set packed_before = ${NOON} where organization_id = ${owner}`;
  for (let n = 0; n < 2; n++)
    await assert.rejects(
      readAtHome(db, owner, (home) => change.execute(home)),
      /read-only/,
    );
  await writeAtHome(db, owner, (home) => change.execute(home));
});

/** Where the organization is, and where else it could be. */
async function findPlaces(owner: string): Promise<{ shard: string; from: string; to: string }> {
  const [place] = await queryOnce<{ shard: string; from: string; to: string }>(
    url,
    `select shardid::text as shard, format('%L, %s', own.nodename, own.nodeport) as from, format('%L, %s', other.nodename, other.nodeport) as to
     from pg_dist_placement placement join pg_dist_node own using (groupid)
     join pg_dist_node other on other.groupid <> own.groupid and other.shouldhaveshards
     where shardid = get_shard_id_for_distribution_column('visit_progress', '${owner}')`,
  );
  assert.ok(place);
  return place;
}

test("events of two shard groups on a server are committed together, and none is lost or doubled when one group moves", {
  skip,
}, async () => {
  const [first, second] = await makeInTwoGroups();
  const outages = new OutageLog(createLog("silent"), {
    failed: "events.write_failed",
    resumed: "events.write_resumed",
  });
  const writer = new HitWriter({ db, clock: { now: () => NOON }, outages }, WRITER_LIMITS);
  const writeBoth = async (visit: number) =>
    await Promise.all(
      [first, second].map(({ widgetId }) =>
        writer.write({ ...makeHit({ widgetId, visit, at: NOON }), mayStart: true }),
      ),
    );
  const recorded = { outcome: "recorded", wasKnown: false };
  // The first event of each is recorded while the map may still be the one from before the split.
  assert.deepEqual(await writeBoth(1), [recorded, recorded]);
  assert.deepEqual(await writeBoth(2), [recorded, recorded]);
  const transactions = await Promise.all([first, second].map(({ owner }) => findTransaction(owner, 2)));
  assert.equal(transactions[0], transactions[1]);
  const { shard, from, to } = await findPlaces(first.owner);
  await queryOnce(url, `select citus_move_shard_placement(${shard}, ${from}, ${to}, 'block_writes')`);
  assert.deepEqual(await writeBoth(3), [recorded, recorded]);
  for (const { owner } of [first, second]) {
    const { rows } = await sql<{ visits: number }>`
      select count(*) as visits from funnel_visits where organization_id = ${owner}`.execute(db);
    assert.equal(rows[0]?.visits, 3);
  }
});

type Made = { owner: OrganizationId; widgetId: WidgetId };

/** Splits a shard group on its server, and makes an organization in each half. */
async function makeInTwoGroups(): Promise<readonly [Made, Made]> {
  await queryOnce(
    url,
    `select citus_split_shard_by_split_points(shardid, array['1000000000'], array[nodeid, nodeid], 'block_writes')
     from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
     where logicalrelid = 'visit_progress'::regclass and 1000000000 between shardminvalue::integer and shardmaxvalue::integer - 1`,
  );
  const makeWhere = async (isIn: (hash: number) => boolean): Promise<Made> => {
    let owner: OrganizationId;
    do owner = await makeOrganization(db);
    while (!isIn(hashText(owner)));
    return { owner, widgetId: await makeWidget(db, owner) };
  };
  return [await makeWhere((hash) => hash >= 0 && hash <= 1e9), await makeWhere((hash) => hash > 1e9)];
}

/** That of the visit on its own server. */
async function findTransaction(owner: OrganizationId, visit: number): Promise<string | undefined> {
  return await readAtHome(db, owner, async (home) => {
    const { rows } = await sql<{ id: string }>`
      select xmin::text as id from ${table("funnel_visits")}
      where organization_id = ${owner} and visit_id = ${visitId(visit)}`.execute(home);
    return rows[0]?.id;
  });
}

test("whatever is written while the organization moves is there afterwards, once", { skip }, async () => {
  const owner = await makeOrganization(db);
  const widgetId = await makeWidget(db, owner);
  const outages = new OutageLog(createLog("silent"), {
    failed: "events.write_failed",
    resumed: "events.write_resumed",
  });
  const writer = new HitWriter({ db, clock: { now: () => NOON }, outages }, WRITER_LIMITS);
  let visit = 0;
  let counted = 0;
  let isMoving = true;
  await sql`insert into funnel_drops (organization_id, widget_id, hour, events) values (${owner}, ${widgetId}, ${NOON}, 0)`.execute(
    db,
  );
  const recording = Array.from({ length: 4 }, async () => {
    const written: number[] = [];
    while (isMoving) {
      const n = ++visit;
      if ((await writer.write({ ...makeHit({ widgetId, visit: n, at: NOON }), mayStart: true })).outcome === "recorded")
        written.push(n);
    }
    return written;
  });
  const counting = async () => {
    while (isMoving)
      await inHome(db, owner, async (transaction) => {
        await sql`update ${table("funnel_drops")} set events = events + 1 where organization_id = ${owner}`.execute(
          transaction,
        );
        await sql`select from ${table("visit_progress")} where organization_id = ${owner} for share`.execute(
          transaction,
        );
      }).then(() => counted++);
  };
  const moving = async () => {
    for (const how of ["block_writes", "force_logical", "block_writes", "block_writes"]) {
      const { shard, from, to } = await findPlaces(owner);
      await queryOnce(url, `select citus_move_shard_placement(${shard}, ${from}, ${to}, '${how}')`);
    }
    isMoving = false;
  };
  const [written] = await Promise.all([Promise.all(recording), counting(), moving().finally(() => (isMoving = false))]);
  assert.ok(written.every((some) => some.length > 0));
  const { rows } = await sql<{ visits: string[]; events: number }>`
    select array(select visit_id::text from funnel_visits where organization_id = ${owner}) as visits,
      (select events from funnel_drops where organization_id = ${owner}) as events`.execute(db);
  // What waited for more than five seconds was refused, and may have been recorded.
  const stored = new Set(rows[0]?.visits);
  assert.deepEqual(
    written.flat().filter((n) => !stored.has(visitId(n))),
    [],
  );
  assert.ok(stored.size <= visit);
  assert.equal(rows[0]?.events, counted);
});

test("tables that every server has are read while all shard groups move from one server to another", {
  skip,
}, async () => {
  const owner = await makeOrganization(db);
  const { to: target, from: source } = await findPlaces(owner);
  await gatherAt(source);
  await pool.homes?.reload();
  await gatherAt(target);
  const read = (home: Db) => home.selectFrom("organizations").select("id").where("id", "=", owner).execute();
  assert.deepEqual(await readAnywhere(db, read), [{ id: owner }]);
});

/** Moves all shard groups to this server. */
async function gatherAt(place: string): Promise<void> {
  const elsewhere = await queryOnce<{ move: string }>(
    url,
    `select format('select citus_move_shard_placement(%s, %L, %s, ${place.replaceAll("'", "''")}, ''block_writes'')', shardid, nodename, nodeport) as move
     from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
     where logicalrelid = 'visit_progress'::regclass and (nodename, nodeport) is distinct from (${place})`,
  );
  for (const { move } of elsewhere) await queryOnce(url, move);
}
