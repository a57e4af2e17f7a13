import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { askApp } from "../../../../test/support/app/app-api.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { startGraphServer } from "../../../../test/support/scheduler/graph/graph-server.ts";
import { parseConfig } from "../../config.ts";
import { describeFailure } from "./describe-failure.ts";

const testApp = await createTestApp({ ...parseConfig({}), webhookAllowCidrs: ["127.0.0.0/8"] });
const { app, deps } = testApp;
after(() => deps.scheduler.outbound.close());

test("connecting Microsoft Bookings says which part is wrong, and where to find it", async () => {
  const server = await startGraphServer();
  after(() => server.stop());
  const admin = await signIn(testApp, { role: "admin" });
  const connect = async (credentials: object = server.parts.credentials, settings: object = {}) => {
    const parts = { settings: { ...server.parts.settings, ...settings }, credentials };
    const { body } = await askApp(app, admin, "POST /connections", { kind: "microsoft-bookings", name: "M", ...parts });
    return (body as { error?: { fields: { credentials: string } } }).error?.fields.credentials ?? "";
  };
  assert.match(await connect({ clientSecret: "wrong" }), /^The client secret is wrong or has expired\./);
  const cases: [route: Parameters<typeof server.injectFault>[0], status: number, json: object, said: RegExp][] = [
    ["POST token", 400, { error: "invalid_request" }, /^Microsoft doesn't recognise this directory \(tenant\) ID\./],
    ["POST token", 400, { error: "unauthorized_client" }, /^This directory has no application with this ID\./],
    ["POST token", 400, { error: "something_new" }, /^Microsoft doesn't accept this application\./],
    ["GET /services", 403, {}, /Add the application permissions Bookings\.Read\.All and/],
    ["GET /services", 404, {}, /^There is no shared booking page with this address\./],
  ];
  for (const [route, status, json, said] of cases) {
    server.injectFault(route, { reply: { status, json } });
    assert.match(await connect(), said, `${route} ${status}`);
  }
  assert.equal(await connect(), "", "nothing is wrong");
});

test("an address in a private network is refused with the reason, which is also that of one that doesn't exist", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const parts = { settings: { apiUrl: "http://10.1.2.3:3003" }, credentials: { apiKey: "cal_live_1" } };
  const { body } = await askApp(app, admin, "POST /connections", { kind: "calcom", name: "C", ...parts });
  const said = (body as { error: { message: string } }).error.message;
  assert.match(said, /^Cal\.com wasn't found on the internet\..* \(setting WEBHOOK_ALLOW_CIDRS\)\.$/);
  const fail = (failure: "dns_error" | "timeout") =>
    describeFailure(
      { kind: "unavailable", retryAfterMs: null, upstream: { status: null, requestId: null, failure } },
      "calcom",
    );
  assert.equal(fail("dns_error"), said);
  assert.equal(fail("timeout"), "Cal.com can't be reached right now. Try again in a minute.");
});
