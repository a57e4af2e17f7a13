import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTestClock } from "../../../test/support/app/app.ts";
import {
  createTimeLimit,
  type Reply,
  type Silence,
  startLocalServer,
} from "../../../test/support/scheduler/local-server.ts";
import { createTestOutbound } from "../../../test/support/scheduler/outbound.ts";
import { createOutbound, type OutboundRequest } from "./outbound.ts";

const NEVER = new AbortController().signal;
const clock = createTestClock();

async function serve(reply: Reply | Silence) {
  const server = await startLocalServer(() => reply);
  after(() => server.stop());
  return server;
}

function get(url: string): OutboundRequest {
  return { method: "GET", url, headers: { Authorization: "Bearer secret" }, body: null };
}

test("a reply has its JSON, the wait it asks for and the system's request id", async () => {
  const headers = { "Retry-After": "Sun, 01 Nov 2026 12:00:30 GMT", "request-id": 'a-1"<b>' };
  const server = await serve({ status: 429, json: { a: 1 }, headers });
  const reply = await createTestOutbound(clock).send(get(`${server.url}/x?y=1`), NEVER);
  const expected = { status: 429, json: { a: 1 }, retryAfterMs: 30_000, requestId: "a-1b", toldLimit: null };
  assert.deepEqual(reply, { kind: "reply", ...expected });
  assert.equal(server.requests[0]?.headers["user-agent"], "Bookflow/1.0 (+https://docs.example)");
});

for (const [name, headers, retryAfterMs] of [
  ["Cal.com's", { "X-RateLimit-Reset-Default": "42", "X-RateLimit-Reset-Long": "7" }, 42_000],
  ["Calendly's", { "X-RateLimit-Reset": "60" }, 60_000],
  ["a Unix time", { "X-RateLimit-Reset": String(clock.now().getTime() / 1_000 + 30) }, 30_000],
  ["Retry-After first", { "Retry-After": "5", "X-RateLimit-Reset": "60" }, 5_000],
  ["not a number", { "X-RateLimit-Reset": "soon" }, null],
] as const) {
  test(`a rate limit's wait is read from its headers: ${name}`, async () => {
    const server = await serve({ status: 429, headers });
    const reply = await createTestOutbound(clock).send(get(server.url), NEVER);
    assert.equal(reply.kind === "reply" && reply.retryAfterMs, retryAfterMs);
  });
}

test("the reset time of a limit that was not exceeded causes no wait", async () => {
  const server = await serve({ status: 503, headers: { "X-RateLimit-Reset": "60" } });
  const reply = await createTestOutbound(clock).send(get(server.url), NEVER);
  assert.equal(reply.kind === "reply" && reply.retryAfterMs, null);
});

test("a redirect is an ordinary reply and is not followed", async () => {
  const target = await serve({ status: 200, json: {} });
  const server = await serve({ status: 302, headers: { Location: target.url } });
  const reply = await createTestOutbound(clock).send(get(server.url), NEVER);
  assert.equal(reply.kind === "reply" && reply.status, 302);
  assert.deepEqual(target.requests, []);
});

for (const [name, url] of [
  ["this machine", "http://127.0.0.1:9/"],
  ["a cloud's metadata", "https://169.254.169.254/"],
  ["this machine, spelled differently", "https://0x7f.1/"],
  ["this machine in IPv6", "https://[::ffff:127.0.0.1]/"],
]) {
  test(`nothing is sent to ${name} unless the operator allows it`, async () => {
    const reply = await createTestOutbound(clock, []).send(get(url ?? ""), NEVER);
    assert.deepEqual(reply, { kind: "failure", code: "blocked_address", wasSent: false });
  });
}

test("a name that resolves to an internal address is not connected to, even if its other addresses are public", async () => {
  const outbound = createOutbound({
    clock,
    docsUrl: "https://docs.example",
    resolve: async () => ({ kind: "found", addresses: ["93.184.216.34", "10.0.0.7"] }),
    allow: [],
    nat64: [],
  });
  after(() => outbound.close());
  const reply = await outbound.send(get("https://cal.example.com/v2/me"), NEVER);
  assert.deepEqual(reply, { kind: "failure", code: "dns_error", wasSent: false });
});

test("plain http is only for networks the operator allows", async () => {
  const outbound = createOutbound({
    clock,
    docsUrl: "https://docs.example",
    resolve: async () => ({ kind: "found", addresses: ["93.184.216.34"] }),
    allow: [],
    nat64: [],
  });
  after(() => outbound.close());
  const reply = await outbound.send(get("http://cal.example.com/v2/me"), NEVER);
  assert.deepEqual(reply, { kind: "failure", code: "dns_error", wasSent: false });
});

test("a reply that is too large is abandoned, whatever came before", async () => {
  const server = await serve({ status: 200, text: "x".repeat(9 * 1024 * 1024) });
  const reply = await createTestOutbound(clock).send(get(server.url), NEVER);
  assert.deepEqual(reply, { kind: "failure", code: "too_large", wasSent: true });
});

test("a reply that isn't JSON has no value", async () => {
  const server = await serve({ status: 200, text: "<html>" });
  const reply = await createTestOutbound(clock).send(get(server.url), NEVER);
  assert.equal(reply.kind === "reply" && reply.json, undefined);
});

test("a silent system ends at the caller's time limit, and a caller that leaves is reported differently", async () => {
  const limit = createTimeLimit();
  const gone = new AbortController();
  const endings = [limit.runOut, () => gone.abort()];
  const server = await startLocalServer(() => {
    endings.shift()?.();
    return "hang";
  });
  after(() => server.stop());
  const outbound = createTestOutbound(clock);
  const late = await outbound.send(get(server.url), limit.signal);
  assert.deepEqual(late, { kind: "failure", code: "timeout", wasSent: true });
  const aborted = await outbound.send(get(server.url), gone.signal);
  assert.deepEqual(aborted, { kind: "failure", code: "aborted", wasSent: true });
  const never = await outbound.send(get(server.url), AbortSignal.abort());
  assert.deepEqual(never, { kind: "failure", code: "aborted", wasSent: false });
});

test("an error never contains the credentials", async () => {
  const request = { ...get("http://127.0.0.1:9/"), headers: { Authorization: "Bearer se\ncret" } };
  await assert.rejects(createTestOutbound(clock).send(request, NEVER), (error: Error) => {
    assert.equal(`${error.message} ${error.stack} ${JSON.stringify(error)} ${error.cause}`.includes("cret"), false);
    return true;
  });
});
