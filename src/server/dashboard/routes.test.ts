import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../../../test/support/app/app.ts";

const { app } = await createTestApp();

test("the root address redirects to the dashboard", async () => {
  const response = await app.inject("/");
  assert.equal(response.statusCode, 302);
  assert.equal(response.headers.location, "/app");
});

const SCREENS = [
  "/app",
  "/app/",
  "/app/org_x/widgets/w_1",
  "/sign-in",
  "/setup?token=x",
  "/invitation",
  "/reset-password",
];

for (const url of SCREENS) {
  test(`${url} is the dashboard page, neither cached nor framable`, async () => {
    const response = await app.inject(url);
    assert.equal(response.statusCode, 200);
    assert.match(String(response.headers["content-type"]), /^text\/html/);
    assert.equal(response.headers["cache-control"], "no-store");
    const policy = String(response.headers["content-security-policy"]);
    assert.match(policy, /(^|; )default-src 'none'; script-src 'self';/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    const nonce = /style-src 'self' 'nonce-([^']+)'/.exec(policy)?.[1];
    assert.ok(nonce && response.body.includes(`nonce="${nonce}"`));
  });
}

test("each response has its own nonce", async () => {
  const policies = await Promise.all([app.inject("/app"), app.inject("/app")]);
  const [first, second] = policies.map((response) => response.headers["content-security-policy"]);
  assert.notEqual(first, second);
});

test("the page loads only our own scripts, which are compressed and cached for ever", async () => {
  const { body } = await app.inject("/app");
  const scripts = [...body.matchAll(/<script\b[^>]*>([^<]*)<\/script>/g)];
  assert.ok(scripts.length > 0 && scripts.every(([, inline]) => inline === ""));
  const script = /src="(\/assets\/dashboard\/[^"]+\.js)"/.exec(body)?.[1];
  assert.ok(script);
  const response = await app.inject({ url: script, headers: { "accept-encoding": "br" } });
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(response.headers["content-encoding"], "br");
});

test("the page is not served as one of its static files, where it would have no policy", async () => {
  const response = await app.inject("/assets/dashboard/index.html");
  assert.equal(response.statusCode, 404);
});

test("unknown API paths return JSON, and writes to a page are refused", async () => {
  const unknown = await app.inject("/api/app/nothing");
  assert.equal(unknown.statusCode, 404);
  assert.equal(unknown.json().error.code, "not_found");
  const write = await app.inject({ method: "POST", url: "/app/org_x" });
  assert.equal(write.statusCode, 405);
});
