import assert from "node:assert/strict";
import { after } from "node:test";
import type { OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { addConnection } from "../../../src/server/scheduler/connections/connections.ts";
import { startRedelivery } from "../../../src/server/webhooks/log/bulk-redelivery.ts";
import { makeKey, makeWidget } from "../builders.ts";
import { startCalcomServer } from "../scheduler/calcom-server.ts";
import {
  book,
  type createWebhookService,
  deliverAll,
  makeEndpoint,
  startReplying,
} from "../webhooks/webhook-service.ts";

/** One of every object that a route's path can name, by the name of its parameter. */
export type Things = Record<
  "widget" | "reference" | "endpoint" | "delivery" | "redelivery" | "key" | "connection",
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
  const makeThings = async (owner: OrganizationId, plan: Plan): Promise<Things> => {
    const widgetId = await makeWidget(db, owner);
    const business = { owner, widgetId, plan };
    const { id: endpoint } = await makeEndpoint(deps, business, { url: receiver.url });
    const reference = await book(deps, business);
    await deliverAll(loop);
    const { id: delivery } = await db
      .selectFrom("deliveries")
      .select("id")
      .where("endpoint_id", "=", endpoint)
      .executeTakeFirstOrThrow();
    const filter = { states: ["failed"], from: "2026-01-01", to: "2026-01-02", endpoint } as const;
    const redelivery = await startRedelivery(deps, { id: owner, plan }, filter, async () => undefined);
    assert.ok(redelivery.kind === "started");
    const wanted = { kind: "calcom", name: "Practice", ...calcom.parts } as const;
    const added = await addConnection(deps, owner, wanted);
    assert.ok(added.kind === "added");
    const { id: key } = await makeKey(db, owner);
    return { widget: widgetId, reference, endpoint, delivery, redelivery: redelivery.id, key, connection: added.id };
  };
  return { makeThings, receiver, calcom };
}

/** The path with the things' IDs, from `/widgets/:widget` or `/widgets/{widget}`. */
export function fillIn(path: string, things: Things): string {
  return path.replaceAll(/[:{](\w+)\}?/g, (_, name: keyof Things) => things[name]);
}
