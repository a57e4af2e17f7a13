import assert from "node:assert/strict";
import { createHmac, timingSafeEqual } from "node:crypto";
import { test } from "node:test";
import { makeSigningSecret, signBody } from "./sign.ts";

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

test("a signing secret is whsec_ and 32 random bytes in base64url", () => {
  const secret = makeSigningSecret({ bytes: (count) => Buffer.alloc(count, 0xfb) });
  assert.equal(secret, "whsec_-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s");
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
