import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { SIGNATURE_TOLERANCE_SECONDS } from "#contract/limits.ts";
import { verifyWebhook, WebhookError, type WebhookErrorCode } from "../../sdk/src/index.ts";
import { rotateSecret } from "../../src/server/webhooks/endpoints/endpoints.ts";
import { redeliver } from "../../src/server/webhooks/log/resend.ts";
import { signBody } from "../../src/server/webhooks/request/sign.ts";
import { noAudit } from "../support/app/no-audit.ts";
import { CLEAN_ENVIRONMENT } from "../support/programs/clean-environment.ts";
import { findFreePort } from "../support/programs/free-port.ts";
import { placeClient } from "../support/programs/installed-client.ts";
import { until } from "../support/until.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  headerOf,
  makeBusiness,
  makeEndpoint,
  readDelivery,
  startReplying,
} from "../support/webhooks/webhook-service.ts";

// verifyWebhook from sdk/src, and the receivers in sdk/examples, against real deliveries and forgeries.

const { deps, clock, loop } = await createWebhookService({ webhookTimeoutMs: 10_000 });

const SECRET = "whsec_test_secret";
const BODY = '{"id":"evt_0","type":"booking.created","data":{"booking":{"reference":"SVC-FORGED"}}}';
const NOW = new Date("2026-11-01T12:00:00.000Z");

const sign = (options: { secret?: string; body?: string; ageSeconds?: number; now?: Date } = {}) =>
  signBody({
    secrets: [options.secret ?? SECRET],
    body: Buffer.from(options.body ?? BODY),
    at: new Date((options.now ?? NOW).getTime() - (options.ageSeconds ?? 0) * 1_000),
  });

function refusal(work: () => unknown): WebhookErrorCode {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof WebhookError, String(error));
    return error.code;
  }
  assert.fail("It was taken");
}

describe("verifying what the service sends", () => {
  test("accepts a real delivery as a typed event; after a rotation with the old and new secret, for a day", async () => {
    const business = await makeBusiness(deps);
    const receiver = await startReplying(() => ({}));
    const { id, secret } = await makeEndpoint(deps, business, { url: receiver.url });
    const reference = await book(deps, business, { customer_name: "Zoë Quell 🦷" });
    await deliverAll(loop);
    const [request] = receiver.requests;
    assert.ok(request);
    const event = verifyWebhook(request.body, headerOf(request, "Service-Signature"), secret, { now: clock.now() });
    assert.ok(event.type === "booking.created");
    assert.deepEqual([event.data.booking.reference, event.data.booking.customer.name], [reference, "Zoë Quell 🦷"]);
    assert.deepEqual(event, JSON.parse(request.body.toString()));

    const rotated = await rotateSecret(deps, business.owner, { id, overlapHours: 24 }, noAudit);
    assert.ok(rotated.kind === "rotated");
    const delivery = await readDelivery(deps, business.owner);
    await redeliver(deps, business.owner, delivery.id, noAudit);
    await deliverAll(loop);
    const again = receiver.requests[1];
    assert.ok(again);
    const header = headerOf(again, "Service-Signature");
    assert.equal(header.split("v1=").length - 1, 2);
    for (const known of [secret, rotated.secret, ["whsec_other", secret], [rotated.secret, "whsec_other"]])
      assert.deepEqual(verifyWebhook(again.body, header, known, { now: clock.now() }), event);
    assert.equal(
      refusal(() => verifyWebhook(again.body, header, "whsec_other", { now: clock.now() })),
      "wrong_signature",
    );
  });

  test("accepts the published test vector", () => {
    const header = "t=1700000000,v1=72037e86def453cf6a64018f6cf1777244901dd1b7431177c7374ccb54040b54";
    const now = new Date(1_700_000_000_000);
    // The signature is valid, but without a type the body isn't an event.
    assert.equal(
      refusal(() => verifyWebhook('{"id":"evt_0"}', header, SECRET, { now })),
      "unreadable_body",
    );
  });

  test("accepts text, bytes, part of a larger buffer, and what fetch gives", () => {
    const bytes = new TextEncoder().encode(BODY);
    const part = new Uint8Array([1, 2, ...bytes, 3]).subarray(2, -1);
    for (const body of [BODY, bytes, Buffer.from(BODY), part, bytes.buffer])
      assert.equal(verifyWebhook(body, sign(), SECRET, { now: NOW }).id, "evt_0");
  });

  test("accepts a header given as a list, and one with spaces and unknown parts", () => {
    assert.equal(verifyWebhook(BODY, [sign()], SECRET, { now: NOW }).id, "evt_0");
    assert.equal(verifyWebhook(BODY, sign().replace(",", " , v2=x, "), SECRET, { now: NOW }).id, "evt_0");
  });

  test("accepts up to 300 seconds before and after, or the given tolerance", () => {
    for (const ageSeconds of [SIGNATURE_TOLERANCE_SECONDS, -SIGNATURE_TOLERANCE_SECONDS])
      assert.equal(verifyWebhook(BODY, sign({ ageSeconds }), SECRET, { now: NOW }).id, "evt_0");
    for (const ageSeconds of [SIGNATURE_TOLERANCE_SECONDS + 1, -SIGNATURE_TOLERANCE_SECONDS - 1])
      assert.equal(
        refusal(() => verifyWebhook(BODY, sign({ ageSeconds }), SECRET, { now: NOW })),
        "stale_timestamp",
      );
    const options = { now: NOW, toleranceSeconds: 10 };
    assert.equal(verifyWebhook(BODY, sign({ ageSeconds: 10 }), SECRET, options).id, "evt_0");
    assert.equal(
      refusal(() => verifyWebhook(BODY, sign({ ageSeconds: 11 }), SECRET, options)),
      "stale_timestamp",
    );
    assert.equal(verifyWebhook(BODY, sign({ now: new Date() }), SECRET).id, "evt_0");
  });
});

describe("anything else is refused", () => {
  const good = sign();
  const cases: [name: string, header: string | string[] | null | undefined, code: WebhookErrorCode][] = [
    ["no header", undefined, "missing_signature"],
    ["no header, as fetch reports it", null, "missing_signature"],
    ["an empty header", "", "missing_signature"],
    ["an empty list", [], "missing_signature"],
    ["no timestamp", good.replace(/^t=\d+,/, ""), "malformed_signature"],
    ["a timestamp that isn't a number", good.replace(/^t=\d+/, "t=1e9"), "malformed_signature"],
    ["two timestamps", `${good},t=1`, "malformed_signature"],
    ["the header twice", [good, good], "malformed_signature"],
    ["no v1", good.replace("v1=", "v0="), "malformed_signature"],
    ["a timestamp added later", good.replace(/^t=\d+/, "t=1793534401"), "wrong_signature"],
    ["another secret", sign({ secret: "whsec_other" }), "wrong_signature"],
    ["the secret without its prefix", sign({ secret: "test_secret" }), "wrong_signature"],
    ["another body", sign({ body: "{}" }), "wrong_signature"],
    ["a shortened signature", good.slice(0, -1), "wrong_signature"],
    ["a lengthened signature", `${good}0`, "wrong_signature"],
    ["capital letters", good.replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase()), "wrong_signature"],
    ["an empty v1", good.replace(/v1=.*/, "v1="), "wrong_signature"],
  ];
  for (const [name, header, code] of cases) {
    test(`${name}: ${code}`, () =>
      assert.equal(
        refusal(() => verifyWebhook(BODY, header, SECRET, { now: NOW })),
        code,
      ));
  }

  test("a signed body that isn't an event", () => {
    for (const body of ["", "null", "[]", "{", '{"id":1,"type":"x"}'])
      assert.equal(
        refusal(() => verifyWebhook(body, sign({ body }), SECRET, { now: NOW })),
        "unreadable_body",
      );
  });

  test("a parsed body and an invalid secret are mistakes in the receiver", () => {
    // biome-ignore lint/suspicious/noExplicitAny: what a receiver in JavaScript may hand over
    const anything = JSON.parse(BODY) as any;
    assert.throws(() => verifyWebhook(anything, good, SECRET, { now: NOW }), /^TypeError: rawBody must be the body/);
    for (const secret of ["", "test_secret", "whsec_", "whsec_a\n", [], ["whsec_a", ""]])
      assert.throws(() => verifyWebhook(BODY, good, secret, { now: NOW }), /^TypeError: secret must be/);
  });
});

const EXAMPLES = fileURLToPath(new URL("../../sdk/examples/", import.meta.url));
const RECEIVERS = readdirSync(EXAMPLES).filter((name) => name.startsWith("receiver-"));

describe("the receivers in sdk/examples accept what the service signs, once, and nothing else", () => {
  const project = placeClient();
  test("there are four of them", () => assert.equal(RECEIVERS.length, 4));

  for (const name of RECEIVERS) {
    test(name, async () => {
      const port = await findFreePort();
      const url = `http://127.0.0.1:${port}/hooks`;
      const business = await makeBusiness(deps);
      const { secret } = await makeEndpoint(deps, business, { url });
      const receiver = await startExample(project, name, { secret, port, url });

      clock.set(new Date());
      const reference = await book(deps, business, { customer_name: "Zoë Quell 🦷" });
      await deliverAll(loop);
      const delivery = await readDelivery(deps, business.owner);
      assert.deepEqual([delivery.state, delivery.last_status], ["delivered", 204]);
      await redeliver(deps, business.owner, delivery.id, noAudit);
      await deliverAll(loop);
      assert.equal((await readDelivery(deps, business.owner)).attempt_count, 2);
      await until(() => receiver.printed() === `${reference}\n`, "the reference is printed, once");

      const post = async (signature: string | null, body: string | Buffer = BODY) => {
        const headers = {
          "content-type": "application/json",
          ...(signature ? { "service-signature": signature } : {}),
        };
        return (await fetch(url, { method: "POST", body, headers })).status;
      };
      const now = new Date();
      const forgeries = [
        null,
        "",
        sign({ now }),
        sign({ secret, now, ageSeconds: 310 }),
        sign({ secret, now, body: "{}" }),
      ];
      for (const signature of forgeries) assert.equal(await post(signature), 400, String(signature));
      assert.equal(await post(sign({ secret, now, body: "" }), ""), 400);
      assert.equal(await post(sign({ secret, now }), Buffer.alloc(2_000_000)), 413);
      assert.equal(receiver.printed(), `${reference}\n`);
      assert.equal(await post(sign({ secret, now })), 204);
    });
  }
});

async function startExample(project: string, name: string, options: { secret: string; port: number; url: string }) {
  const path = join(project, name);
  copyFileSync(join(EXAMPLES, name), path);
  const child = spawn(process.execPath, [path], {
    cwd: project,
    env: { ...CLEAN_ENVIRONMENT, WEBHOOK_SECRET: options.secret, PORT: String(options.port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  after(() => child.kill("SIGKILL"));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const answers = () =>
    fetch(options.url, { method: "POST", body: "{}" }).then(
      () => true,
      () => false,
    );
  await until(answers, `${name} answers`);
  return { printed: () => printed };
}
