import assert from "node:assert/strict";
import { test } from "node:test";
import { SEND_FAILURE_CODES, type SendFailureCode } from "#contract/webhooks/delivery.ts";
import { ENDPOINT_KINDS, type EndpointKind } from "#contract/webhooks/endpoint.ts";
import type { SendResult } from "../request/guarded-send.ts";
import { type AttemptOutcome, classifyReply } from "./classify-reply.ts";

const NO_TRACE = {
  remoteAddress: null,
  timings: { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
  replyHeaders: null,
  replyFault: null,
};

type Reply = { status: number; body?: string; retryAfter?: string | null; brokenOff?: SendFailureCode };

function reply({ status, body = "", retryAfter = null, brokenOff }: Reply): SendResult {
  return {
    kind: "reply",
    status,
    body,
    truncated: false,
    retryAfter,
    brokenOff: brokenOff ?? null,
    durationMs: 12,
    trace: NO_TRACE,
  };
}

const delivered: AttemptOutcome = { kind: "delivered" };
const retry: AttemptOutcome = { kind: "retry", errorCode: "http_status", retryAfter: null };
const redirect: AttemptOutcome = { kind: "retry", errorCode: "redirect", retryAfter: null };
const gone: AttemptOutcome = {
  kind: "failed",
  errorCode: "http_status",
  endpointEffect: "disable",
  isOurFault: false,
};
const refused: AttemptOutcome = { ...gone, endpointEffect: "none" };
const flagged: AttemptOutcome = { ...gone, endpointEffect: "attention" };
const ourFault: AttemptOutcome = { ...refused, isOurFault: true };

test("each status is delivered, retried or final for each kind, as in the design's table", () => {
  const table: [statuses: number[], webhook: AttemptOutcome, slack: AttemptOutcome, teams: AttemptOutcome][] = [
    [[200], delivered, delivered, delivered],
    [[201, 202, 204, 299], delivered, { ...refused, errorCode: "reply_body" }, delivered],
    [[300, 301, 302, 303, 304, 307, 308], redirect, redirect, redirect],
    [[400, 413, 422], retry, ourFault, ourFault],
    [[401, 403, 404], retry, flagged, flagged],
    [[402, 405, 406, 409, 411, 415, 418, 451, 499], retry, refused, refused],
    [[408, 425, 429], retry, retry, retry],
    [[410], gone, gone, gone],
    [[500, 501, 502, 503, 504, 520, 599, 600, 999], retry, retry, retry],
  ];
  for (const [statuses, webhook, slack, teams] of table) {
    for (const status of statuses) {
      const body = status === 200 ? "ok" : "";
      assert.deepEqual(classifyReply("webhook", reply({ status, body })), webhook, `webhook ${status}`);
      assert.deepEqual(classifyReply("slack", reply({ status, body })), slack, `slack ${status}`);
      assert.deepEqual(classifyReply("teams", reply({ status, body })), teams, `teams ${status}`);
    }
  }
});

test("without a reply every kind retries, even when the address was blocked", () => {
  for (const kind of ENDPOINT_KINDS) {
    for (const code of SEND_FAILURE_CODES) {
      assert.deepEqual(
        classifyReply(kind, { kind: "failure", code, durationMs: 3, trace: NO_TRACE }),
        { kind: "retry", errorCode: code, retryAfter: null },
        `${kind} ${code}`,
      );
    }
  }
});

test("a JSON endpoint's body is never read", () => {
  const body = "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 404";
  assert.deepEqual(classifyReply("webhook", reply({ status: 200, body })), delivered);
});

test("a Slack delivery succeeds only with 200 and ok", () => {
  const cases: [body: string, expected: AttemptOutcome][] = [
    ["ok", delivered],
    ["ok\n", delivered],
    ["", { ...refused, errorCode: "reply_body" }],
    ["invalid_token", { ...refused, errorCode: "reply_body" }],
    ["okay", { ...refused, errorCode: "reply_body" }],
    ["<html>ok</html>", { ...refused, errorCode: "reply_body" }],
  ];
  for (const [body, expected] of cases)
    assert.deepEqual(classifyReply("slack", reply({ status: 200, body })), expected);
});

test("a Teams delivery succeeds with 2xx and a body that reports no failure", () => {
  const says = (error: string) => `Webhook message delivery failed with error: ${error}`;
  const inner = (status: number) =>
    says(`Microsoft Teams endpoint returned HTTP error ${status} with ContextId tcid=0.`);
  const cases: [body: string, expected: AttemptOutcome][] = [
    ["", delivered],
    ["1", delivered],
    ['{"ok":true}', delivered],
    [inner(429), { ...retry, errorCode: "reply_body" }],
    [inner(503), { ...retry, errorCode: "reply_body" }],
    [inner(404), { ...flagged, errorCode: "reply_body" }],
    [inner(410), { ...gone, errorCode: "reply_body" }],
    [inner(413), { ...ourFault, errorCode: "reply_body" }],
    [inner(409), { ...refused, errorCode: "reply_body" }],
    [says("the channel is away"), { ...retry, errorCode: "reply_body" }],
    [inner(200), { ...retry, errorCode: "reply_body" }],
  ];
  for (const [body, expected] of cases) {
    for (const status of [200, 202]) {
      assert.deepEqual(classifyReply("teams", reply({ status, body })), expected, `${status} ${body}`);
    }
  }
});

test("a status counts even if the body breaks off; for a chat's 2xx, so does the body received so far", () => {
  const broken = (kind: EndpointKind, status: number, body = "") =>
    classifyReply(kind, reply({ status, body, brokenOff: "timeout", retryAfter: "120" }));
  const again = { kind: "retry", errorCode: "timeout", retryAfter: "120" };
  for (const status of [200, 204, 299]) assert.deepEqual(broken("webhook", status), delivered);
  assert.deepEqual(broken("slack", 200, "ok"), delivered);
  for (const body of ["", "inval"]) assert.deepEqual(broken("slack", 200, body), again);
  const fault = "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 404 wi";
  assert.deepEqual(broken("teams", 200, fault), { ...flagged, errorCode: "reply_body" });
  for (const body of ["", "Webhook mess"]) assert.deepEqual(broken("teams", 200, body), again);
  for (const kind of ENDPOINT_KINDS) {
    for (const status of [302, 404, 410, 429, 500]) {
      const whole = classifyReply(kind, reply({ status, retryAfter: "120" }));
      assert.deepEqual(broken(kind, status), whole, `${kind} ${status}`);
    }
  }
});

test("a retry carries the receiver's Retry-After, whatever the status or kind", () => {
  const cases: [kind: EndpointKind, reply: Reply][] = [
    ["webhook", { status: 429 }],
    ["webhook", { status: 404 }],
    ["slack", { status: 429 }],
    ["teams", { status: 503 }],
    ["teams", { status: 200, body: "Webhook message delivery failed with error: HTTP error 429" }],
  ];
  for (const [kind, response] of cases) {
    const outcome = classifyReply(kind, reply({ ...response, retryAfter: "120" }));
    assert.equal(outcome.kind === "retry" && outcome.retryAfter, "120", `${kind} ${response.status}`);
  }
});
