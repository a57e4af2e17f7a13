import assert from "node:assert/strict";
import { createHmac, timingSafeEqual } from "node:crypto";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { makeSigningSecret, type SigningSecrets, signBody, signStandard, toUnixSeconds } from "./sign.ts";

const EVENT_ID = "evt_4f2c8a90d1e74b6fa35c0b7e9d8a6c12";

const at = new Date("2023-11-14T22:13:20.999Z");

test("the signature matches the published vector exactly", () => {
  const header = signBody({ secrets: ["whsec_test_secret"], body: Buffer.from('{"id":"evt_0"}'), at });
  assert.equal(header, "t=1700000000,v1=72037e86def453cf6a64018f6cf1777244901dd1b7431177c7374ccb54040b54");
});

test("during a rotation the new secret signs first and the old one second", () => {
  const body = Buffer.from('{"id":"evt_0"}');
  const [current] = signBody({ secrets: ["whsec_new"], body, at })
    .split(",")
    .slice(1);
  const [previous] = signBody({ secrets: ["whsec_test_secret"], body, at })
    .split(",")
    .slice(1);
  assert.equal(
    signBody({ secrets: ["whsec_new", "whsec_test_secret"], body, at }),
    `t=1700000000,${current},${previous}`,
  );
});

test("the raw bytes are signed, even when they are not UTF-8", () => {
  const bytes = [0xff, 0xfe, 0x00, 0x0a, 0xc3];
  const expected = createHmac("sha256", "whsec_k")
    .update(Buffer.from([...Buffer.from("1700000000."), ...bytes]))
    .digest("hex");
  assert.equal(signBody({ secrets: ["whsec_k"], body: Buffer.from(bytes), at }), `t=1700000000,v1=${expected}`);
});

test("the key is the whole secret, prefix included", () => {
  const body = Buffer.from("{}");
  const withoutPrefix = createHmac("sha256", "abc").update("1700000000.{}").digest("hex");
  assert.notEqual(signBody({ secrets: ["whsec_abc"], body, at }), `t=1700000000,v1=${withoutPrefix}`);
});

test("a receiver that follows the contract accepts the signature, and refuses it for another body, secret or time", () => {
  const body = Buffer.from('{"id":"evt_1","name":"Zoë"}');
  const header = signBody({ secrets: ["whsec_right"], body, at });
  const verdict = (change: { body?: Buffer; secret?: string; secondsLater?: number }) =>
    accepts({
      header,
      body: change.body ?? body,
      secret: change.secret ?? "whsec_right",
      nowSeconds: 1_700_000_000 + (change.secondsLater ?? 0),
    });
  assert.deepEqual(
    {
      untouched: verdict({}),
      fiveMinutesLate: verdict({ secondsLater: 300 }),
      later: verdict({ secondsLater: 301 }),
      otherBody: verdict({ body: Buffer.from('{"id":"evt_1","name":"Zoe"}') }),
      otherSecret: verdict({ secret: "whsec_wrong" }),
    },
    { untouched: true, fiveMinutesLate: true, later: false, otherBody: false, otherSecret: false },
  );
});

test("a signing secret is whsec_ and 33 random bytes in base64", () => {
  const secret = makeSigningSecret({ bytes: (count) => Buffer.alloc(count, 0xfb) });
  assert.equal(secret, "whsec_+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7");
});

test("the library of Standard Webhooks verifies what we sign with a new secret, and refuses forgeries", () => {
  const [secret, other] = [0x41, 0xff].map((byte) =>
    makeSigningSecret({ bytes: (count) => Buffer.alloc(count, byte) }),
  );
  assert.ok(secret && other);
  const body = Buffer.from('{"id":"evt_1","name":"Zoë"}');
  const headersOf = (secrets: SigningSecrets, at = new Date()) => {
    const signature = signStandard({ secrets, eventId: EVENT_ID, body, at });
    return { "webhook-id": EVENT_ID, "webhook-timestamp": String(toUnixSeconds(at)), "webhook-signature": signature };
  };
  const good = headersOf([secret]);
  assert.deepEqual(new Webhook(secret).verify(body.toString(), good), { id: "evt_1", name: "Zoë" });
  const overlap = headersOf([other, secret]);
  for (const each of [secret, other]) assert.ok(new Webhook(each).verify(body, overlap), "both during a rotation");
  const refused = (key: string, headers: Record<string, string>, text = body.toString()) =>
    assert.throws(() => new Webhook(key).verify(text, headers));
  refused(other, good);
  refused(secret, good, `${body} `);
  refused(secret, { ...good, "webhook-id": "evt_2" });
  refused(secret, { ...good, "webhook-timestamp": String(Number(good["webhook-timestamp"]) + 1) });
  refused(secret, headersOf([secret], new Date(Date.now() - 301_000)));
});

test("a secret from before version 1.1 signs with its bytes, in whatever alphabet it is written", () => {
  const old = `whsec_${Buffer.alloc(32, 0xfb).toString("base64url")}`;
  const signature = signStandard({ secrets: [old], eventId: "evt_1", body: Buffer.from("{}"), at });
  const expected = createHmac("sha256", Buffer.alloc(32, 0xfb)).update("evt_1.1700000000.{}").digest("base64");
  assert.equal(signature, `v1,${expected}`);
});

/** The four steps of the contract's "Webhook signature (verification by the receiver)". */
function accepts(input: { header: string; body: Buffer; secret: string; nowSeconds: number }): boolean {
  const parts = input.header.split(",").map((part) => part.split("=", 2) as [string, string]);
  const t = parts.find(([name]) => name === "t")?.[1];
  if (t === undefined || Math.abs(input.nowSeconds - Number(t)) > 300) return false;
  const expected = createHmac("sha256", input.secret)
    .update(Buffer.concat([Buffer.from(`${t}.`), input.body]))
    .digest();
  return parts
    .filter(([name]) => name === "v1")
    .map(([, hex]) => Buffer.from(hex, "hex"))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
