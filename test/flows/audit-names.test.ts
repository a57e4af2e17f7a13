import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { AuditPage } from "#contract/app/audit.ts";
import { askApp } from "../support/app/app-api.ts";
import { signIn } from "../support/app/sign-in.ts";
import { makeWidget } from "../support/builders.ts";
import { startCalcomServer } from "../support/scheduler/calcom/calcom-server.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeEndpoint,
  moveClock,
  startReplying,
} from "../support/webhooks/webhook-service.ts";

// The audit log names each target as it was called then; it may have been renamed or removed since.

const service = await createWebhookService();
const { app, deps, loop } = service;
after(() => deps.scheduler.outbound.close());
const calcom = await startCalcomServer();
after(() => calcom.stop());

type Admin = Awaited<ReturnType<typeof signIn>>;

/** Waits a second before each action, so that the log has their order. */
async function act(admin: Admin, route: string, body?: object): Promise<Record<string, unknown>> {
  moveClock(service, 1);
  const response = await askApp(app, admin, route, body);
  assert.ok(response.status < 300, `${route}: ${JSON.stringify(response)}`);
  return response.body as Record<string, unknown>;
}

/** Oldest first: the action, the id, and the names in the entry. */
async function readNames(admin: Admin): Promise<unknown[][]> {
  const { data } = (await askApp(app, admin, "GET /audit")).body as AuditPage;
  return data
    .reverse()
    .map(({ action, target, detail }) => [action, target, detail["name"], detail["formerName"]].filter(Boolean));
}

test("an entry keeps the name of its time, after a rename and after removal", async () => {
  const admin = await signIn(service, { role: "owner", plan: "business" });

  const widget = (await act(admin, "POST /widgets", { name: "Website" }))["id"];
  await act(admin, `PATCH /widgets/${widget}`, { template: "compact" });
  await act(admin, `PATCH /widgets/${widget}`, { name: "Old website" });
  await act(admin, `GET /bookings.csv?widget=${widget}`);

  const key = (await act(admin, "POST /keys", { name: "Warehouse" }))["id"];
  await act(admin, `DELETE /keys/${key}`);

  const wanted = { kind: "calcom", name: "Practice", ...calcom.parts };
  const connection = (await act(admin, "POST /connections", wanted))["connection"] as { id: string };
  await act(admin, `PATCH /connections/${connection.id}`, { name: "Annex" });
  await act(admin, `PATCH /connections/${connection.id}`, calcom.parts);
  await act(admin, `DELETE /connections/${connection.id}`);

  const address = { url: "https://93.184.215.14/hooks?password=letmein", kind: "webhook" };
  const { id: endpoint } = (await act(admin, "POST /endpoints", address))["endpoint"] as { id: string };
  await act(admin, `PATCH /endpoints/${endpoint}`, { description: "Practice software" });
  await act(admin, `POST /endpoints/${endpoint}/rotate-secret`, {});
  await act(admin, `POST /endpoints/${endpoint}/test`);
  await act(admin, `PATCH /endpoints/${endpoint}`, { isEnabled: false });
  await act(admin, `DELETE /endpoints/${endpoint}`);

  await act(admin, "PATCH /organization", { timeZone: "Asia/Tokyo" });
  await act(admin, "PATCH /organization", { name: "Elm Clinic" });

  const { organizationId } = admin;
  assert.deepEqual(await readNames(admin), [
    ["widget.created", widget, "Website"],
    ["widget.changed", widget, "Website"],
    ["widget.changed", widget, "Old website", "Website"],
    ["bookings.exported", widget, "Old website"],
    ["api_key.created", key, "Warehouse"],
    ["api_key.revoked", key, "Warehouse"],
    ["connection.added", connection.id, "Practice"],
    ["connection.changed", connection.id, "Annex", "Practice"],
    ["connection.changed", connection.id, "Annex"],
    ["connection.removed", connection.id, "Annex"],
    // Without a description it is named by its host: what follows the host may be a password.
    ["endpoint.added", endpoint, "93.184.215.14"],
    ["endpoint.changed", endpoint, "Practice software", "93.184.215.14"],
    ["endpoint.secret_rotated", endpoint, "Practice software"],
    ["endpoint.tested", endpoint, "Practice software"],
    ["endpoint.changed", endpoint, "Practice software"],
    ["endpoint.removed", endpoint, "Practice software"],
    ["organization.changed", organizationId, "Lindenhof Dental"],
    ["organization.changed", organizationId, "Elm Clinic", "Lindenhof Dental"],
  ]);
});

test("the log has the reference of a booking and its delivery, and nothing about the customer", async () => {
  const admin = await signIn(service, { role: "owner", plan: "business" });
  const owner = admin.organizationId;
  const widgetId = await makeWidget(deps.db, owner);
  const receiver = await startReplying(() => ({ status: 200 }));
  await makeEndpoint(deps, { owner, widgetId, plan: "business" }, { url: receiver.url });
  const reference = await book(deps, { owner, widgetId, plan: "business" });
  await deliverAll(loop);
  const { data } = (await askApp(app, admin, "GET /deliveries")).body as { data: { id: string }[] };
  await act(admin, `POST /deliveries/${data[0]?.id}/redeliver`);
  await deliverAll(loop);
  await act(admin, `DELETE /bookings/${reference}`);
  assert.deepEqual(await readNames(admin), [
    ["delivery.redelivered", data[0]?.id, reference],
    ["booking.deleted", reference],
  ]);
});
