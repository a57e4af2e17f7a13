import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  headerOf,
  makeBusiness,
  makeEndpoint,
  pathOf,
  readAttempts,
  readDelivery,
  readEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";

// Section 9 of the design, from booking to log, for every kind of endpoint: a reply of each class. classify-reply.test.ts has all statuses.

const service = await createWebhookService({ webhookTimeoutMs: 4_000 });
const { deps, loop } = service;

type Fate = "delivered" | "retrying" | "failed" | "failed, turned off";
type Case = [reply: string, webhook: Fate, slack: Fate, teams: Fate];

const TEAMS_FAULT = "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error";

// biome-ignore format: a table
const TABLE: readonly Case[] = [
  ["200 ok",                "delivered",            "delivered",            "delivered"],
  ["200 empty",             "delivered",            "failed",               "delivered"],
  ["200 no_service",        "delivered",            "failed",               "delivered"],
  ["202 empty",             "delivered",            "failed",               "delivered"],
  ["200 teams 429",         "delivered",            "failed",               "retrying"],
  ["200 teams 404",         "delivered",            "failed",               "failed"],
  ["302 ok",                "retrying",             "retrying",             "retrying"],
  ["400 invalid_payload",   "retrying",             "failed",               "failed"],
  ["404 ok",                "retrying",             "failed",               "failed"],
  ["409 ok",                "retrying",             "failed",               "failed"],
  ["410 ok",                "failed, turned off", "failed, turned off", "failed, turned off"],
  ["429 ok",                "retrying",             "retrying",             "retrying"],
  ["500 ok",                "retrying",             "retrying",             "retrying"],
  ["silence",               "retrying",             "retrying",             "retrying"],
  ["nobody listens",        "retrying",             "retrying",             "retrying"],
];

const BODIES: Readonly<Record<string, string>> = {
  empty: "",
  "teams 429": `${TEAMS_FAULT} 429 with ContextId`,
  "teams 404": `${TEAMS_FAULT} 404 with ContextId`,
};

const receiver = await startReplying((request) => {
  const [, , ...words] = decodeURIComponent(pathOf(request)).split("/");
  const [status, ...body] = (words[0] ?? "").split(" ");
  if (status === "silence") return null;
  const text = body.join(" ");
  return { status: Number(status), body: BODIES[text] ?? text, headers: { Location: "http://127.0.0.1:1/elsewhere" } };
});

const KINDS = ["webhook", "slack", "teams"] as const satisfies readonly EndpointKind[];

test("the status table holds for all three kinds, from booking to log", async () => {
  const cases: { name: string; fate: Fate; owner: OrganizationId; endpointId: EndpointId }[] = [];
  for (const [reply, ...fates] of TABLE) {
    for (const [index, kind] of KINDS.entries()) {
      const business = await makeBusiness(deps);
      const path = `/${kind}/${encodeURIComponent(reply)}`;
      const url = reply === "nobody listens" ? "http://127.0.0.1:1/" : `http://127.0.0.1:${receiver.port}${path}`;
      const { id } = await makeEndpoint(deps, business, { url, kind });
      await book(deps, business);
      cases.push({ name: `${reply} to ${kind}`, fate: fates[index] as Fate, owner: business.owner, endpointId: id });
    }
  }
  await deliverAll(loop);

  for (const { name, fate, owner, endpointId } of cases) {
    const delivery = await readDelivery(deps, owner);
    const [attempt, ...others] = await readAttempts(deps, owner);
    const endpoint = await readEndpoint(deps, endpointId);
    assert.deepEqual(
      {
        state: delivery.state,
        attempts: others.length + 1,
        result: attempt?.result,
        replied: attempt?.status,
        error: attempt?.error_code,
        isDueAgain: delivery.next_attempt_at !== null,
        status: endpoint.status,
        reason: endpoint.disabled_reason,
      },
      {
        state: fate.split(",")[0],
        attempts: 1,
        result: fate === "delivered" ? "delivered" : "failed",
        replied: /^[0-9]{3}/.test(name) ? Number(name.slice(0, 3)) : null,
        error: expectedError(name, fate),
        isDueAgain: fate === "retrying",
        status: fate === "failed, turned off" ? "disabled" : "enabled",
        reason: fate === "failed, turned off" ? "gone" : null,
      },
      name,
    );
  }
});

function expectedError(name: string, fate: Fate): string | null {
  if (fate === "delivered") return null;
  if (name.startsWith("silence")) return "timeout";
  if (name.startsWith("nobody")) return "connection_refused";
  if (name.startsWith("2")) return "reply_body";
  return name.startsWith("3") ? "redirect" : "http_status";
}

test("redirects are never followed", () => {
  assert.deepEqual(
    receiver.requests.filter((request) => pathOf(request).includes("elsewhere")),
    [],
  );
});

test("signed JSON carries the contract's headers and those of Standard Webhooks, a card none of them", () => {
  const names = (path: string) => {
    const request = receiver.requests.find((each) => pathOf(each).startsWith(path));
    assert.ok(request);
    assert.equal(headerOf(request, "Content-Length"), String(request.body.length));
    assert.equal(headerOf(request, "User-Agent"), `Service-Webhooks/1.0 (+${deps.config.docsUrl})`);
    const [first = "", ...lines] = request.head.split("\r\n");
    assert.match(first, /^POST \S+ HTTP\/1\.1$/);
    return lines.map((line) => line.split(":")[0]?.toLowerCase()).sort();
  };
  const common = ["accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"];
  assert.deepEqual(names("/slack/"), common);
  assert.deepEqual(names("/teams/"), common);
  const signed = ["service-delivery", "service-event", "service-signature"];
  const standard = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  assert.deepEqual(names("/webhook/"), [...common, ...signed, ...standard].sort());
});
