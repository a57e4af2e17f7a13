import assert from "node:assert/strict";
import { after } from "node:test";
import { type OrganizationId, REPORT_LINK_ID, type ReportLinkId, SEGMENT_ID, type SegmentId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { insertReportLink } from "../../../src/server/analytics/sharing/link-queries.ts";
import { insertSegment } from "../../../src/server/analytics/sharing/segment-queries.ts";
import { randomId, systemRandom } from "../../../src/server/lib/secrets/random.ts";
import { addConnection } from "../../../src/server/scheduler/connections/connections.ts";
import { startRedelivery } from "../../../src/server/webhooks/log/bulk-redelivery.ts";
import { makeKey, makeWidget, NOON } from "../builders.ts";
import { startCalcomServer } from "../scheduler/calcom/calcom-server.ts";
import {
  type Business,
  book,
  type createWebhookService,
  deliverAll,
  makeEndpoint,
  startReplying,
} from "../webhooks/webhook-service.ts";
import { noAudit } from "./no-audit.ts";

/** One of every object that a route's path can name, by the name of its parameter. */
export type Things = Record<
  "widget" | "reference" | "endpoint" | "delivery" | "redelivery" | "key" | "connection" | "segment" | "link",
  string
>;

/** Starts a webhook receiver and a Cal.com, which the things of organizations use. */
export async function prepareThings({ deps, loop }: Awaited<ReturnType<typeof createWebhookService>>) {
  const { db } = deps;
  const receiver = await startReplying(() => ({ status: 200 }));
  const calcom = await startCalcomServer();
  after(async () => {
    await calcom.stop();
    await deps.scheduler.outbound.close();
  });
  const makeSent = async (business: Business) => {
    const { owner } = business;
    const { id: endpoint } = await makeEndpoint(deps, business, { url: receiver.url });
    const reference = await book(deps, business);
    await deliverAll(loop);
    const { id: delivery } = await db
      .selectFrom("deliveries")
      .select("id")
      .where("endpoint_id", "=", endpoint)
      .executeTakeFirstOrThrow();
    const [from, to] = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"];
    const filter = { states: ["failed"], from, to, endpoint } as const;
    const redelivery = await startRedelivery(deps, owner, filter, async () => undefined);
    assert.ok(redelivery.kind === "started");
    return { endpoint, reference, delivery, redelivery: redelivery.id };
  };
  const makeConnection = async (owner: OrganizationId) => {
    const added = await addConnection(deps, owner, { kind: "calcom", name: "Practice", ...calcom.parts }, noAudit);
    assert.ok(added.kind === "added");
    return added.id;
  };
  const makeOthers = async (owner: OrganizationId) => {
    const { id: key } = await makeKey(db, owner);
    const segment = randomId<SegmentId>(systemRandom, SEGMENT_ID);
    const filters = { name: "Phones", query: "device=mobile", created_at: NOON };
    await insertSegment(db, { organization_id: owner, id: segment, ...filters });
    const link = randomId<ReportLinkId>(systemRandom, REPORT_LINK_ID);
    const shared = { name: "Week", query: "days=7", token: link, created_by: null, created_at: NOON };
    await insertReportLink(db, { organization_id: owner, id: link, ...shared });
    return { key, segment, link };
  };
  const makeThings = async (owner: OrganizationId, plan: Plan): Promise<Things> => {
    const widget = await makeWidget(db, owner);
    const sent = await makeSent({ owner, widgetId: widget, plan });
    return { widget, ...sent, ...(await makeOthers(owner)), connection: await makeConnection(owner) };
  };
  /** Those that the text names. What was sent and connections take most of the time. */
  const makeNamed = async (owner: OrganizationId, plan: Plan, text: string): Promise<Partial<Things>> => {
    const widget = await makeWidget(db, owner);
    return {
      widget,
      ...(await makeOthers(owner)),
      ...(/[:{](endpoint|reference|delivery|redelivery)/.test(text) &&
        (await makeSent({ owner, widgetId: widget, plan }))),
      ...(/[:{]connection/.test(text) && { connection: await makeConnection(owner) }),
    };
  };
  return { makeThings, makeNamed, receiver, calcom };
}

/** The path with the things' IDs, from `/widgets/:widget` or `/widgets/{widget}`. */
export function fillIn(path: string, things: Things): string {
  return path.replaceAll(/[:{](\w+)\}?/g, (_, name: keyof Things) => things[name]);
}
