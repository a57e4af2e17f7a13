import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import { auditByOperator } from "../../src/server/audit/audit-by.ts";
import type { ServiceDeps } from "../../src/server/create-deps.ts";
import { DEMO_ID } from "../../src/server/demo/clinic.ts";
import { auditEndpoint } from "../../src/server/webhooks/endpoints/app-routes.ts";
import { addEndpoint, editEndpoint } from "../../src/server/webhooks/endpoints/endpoints.ts";
import { listEndpoints } from "../../src/server/webhooks/endpoints/queries.ts";
import { toShortUrl } from "../../src/server/webhooks/endpoints/to-app-endpoint.ts";
import { FAILING_PATH } from "./receiver/receiver.ts";

const RECEIVERS: readonly { path: string; kind: EndpointKind; description: string }[] = [
  { path: "/webhook", kind: "webhook", description: "Patient records" },
  { path: "/slack", kind: "slack", description: "#bookings in Slack" },
  { path: "/teams", kind: "teams", description: "Reception in Teams" },
  { path: FAILING_PATH, kind: "webhook", description: "Old CRM (down)" },
];

/** Points the demo's endpoints at the receiver, whose address may have changed since the last start. */
export async function connectReceiver(deps: ServiceDeps, address: string): Promise<void> {
  const audit = auditByOperator(deps, DEMO_ID, deps.clock.now());
  const known = await listEndpoints(deps.db, DEMO_ID);
  for (const { path, kind, description } of RECEIVERS) {
    const url = address + path;
    const storedUrl = kind === "webhook" ? url : toShortUrl(url);
    const endpoint = known.find((one) => new URL(one.url).pathname === new URL(storedUrl).pathname);
    if (endpoint?.url === storedUrl) continue;
    const outcome = endpoint
      ? await editEndpoint(
          deps,
          DEMO_ID,
          { id: endpoint.id, url },
          auditEndpoint(audit, "endpoint.changed", { changed: "url" }),
        )
      : await addEndpoint(deps, DEMO_ID, { url, kind, description }, auditEndpoint(audit, "endpoint.added"));
    if (outcome.kind !== "added" && outcome.kind !== "edited")
      throw new Error(`The receiver ${url} was refused: ${outcome.kind}`);
  }
}

export async function hasSentWebhooks({ db }: Pick<ServiceDeps, "db">): Promise<boolean> {
  const event = db.selectFrom("webhook_events").select("id").where("organization_id", "=", DEMO_ID).limit(1);
  return (await event.executeTakeFirst()) !== undefined;
}

/** The signing secrets of the demo's endpoints, including replaced ones that are still valid. */
export async function listSigningSecrets({ db, webhooks }: Pick<ServiceDeps, "db" | "webhooks">): Promise<string[]> {
  const rows = await db
    .selectFrom("endpoints")
    .select(["id", "secret", "previous_secret"])
    .where("organization_id", "=", DEMO_ID)
    .where("kind", "=", "webhook")
    .where("removed_at", "is", null)
    .execute();
  return rows.flatMap(({ id, secret, previous_secret: previous }) =>
    [secret, previous].flatMap((sealed) => (sealed === null ? [] : (webhooks.secretBox.open(id, sealed) ?? []))),
  );
}
