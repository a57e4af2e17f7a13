import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { AppConnectionList, ConnectionCheckAnswer, SavedConnection } from "#contract/app/connections.ts";
import type { ConfigAnswer } from "#contract/book.ts";
import { createTestApp, type TestApp } from "../../../../test/support/app.ts";
import { askApp } from "../../../../test/support/app-api.ts";
import { makeWidget } from "../../../../test/support/builders.ts";
import { type SignedIn, signIn } from "../../../../test/support/sign-in.ts";
import { visitId } from "../../../../test/support/touches.ts";

const local = await createTestApp();
const published = await createTestApp({ baseUrl: "https://book.example.com" });
for (const { deps } of [local, published]) after(() => deps.scheduler.outbound.close());

async function connect({ app }: TestApp, admin: SignedIn, address: string) {
  const settings = { apiUrl: address, webUrl: address };
  const body = { kind: "calcom", name: "Practice", settings, credentials: { apiKey: "practice" } };
  return await askApp(app, admin, "POST /connections", body);
}

async function goLive(): Promise<{ admin: SignedIn; widgetId: string; address: string; connectionId: string }> {
  const admin = await signIn(local, { role: "admin" });
  const widgetId = await makeWidget(local.deps.db, admin.organizationId);
  const { practiceUrl } = (await askApp(local.app, admin, "GET /connections")).body as AppConnectionList;
  const address = `${practiceUrl}/${widgetId}`;
  const saved = (await connect(local, admin, address)).body as SavedConnection;
  const { id: connectionId } = saved.connection;
  const live = await askApp(local.app, admin, `POST /widgets/${widgetId}/go-live`, { connectionId });
  assert.equal(live.status, 200, JSON.stringify(live.body));
  return { admin, widgetId, address, connectionId };
}

async function book(widgetId: string, place = 0): Promise<{ reference: string; manageUrl: string }> {
  const { services } = (await local.app.inject(`/embed-api/${widgetId}/config`)).json() as ConfigAnswer;
  const [service] = services;
  const range = "from=2026-11-01&to=2026-11-15";
  const { slots } = (await local.app.inject(`/embed-api/${widgetId}/slots?service=${service?.id}&${range}`)).json();
  const made = await local.app.inject({
    method: "POST",
    url: `/embed-api/${widgetId}/bookings`,
    headers: { "content-type": "application/json", "idempotency-key": `${widgetId} ${place}` },
    payload: JSON.stringify({
      visitId: visitId(7 + place),
      serviceId: service?.id,
      start: slots[place].start,
      timeZone: "UTC",
      customer: { name: "Mara Quell", email: "mara@example.com" },
    }),
  });
  assert.equal(made.statusCode, 201, made.body);
  return made.json();
}

const open = (url: string) => local.app.inject(new URL(url).pathname);

describe("the practice Cal.com", () => {
  test("on one's own computer, a widget goes live on it, and the appointment is in its calendar", async () => {
    const { admin, widgetId, address, connectionId } = await goLive();
    const { data } = (await askApp(local.app, admin, "GET /connections")).body as AppConnectionList;
    assert.deepEqual(
      data.map(({ isPractice }) => isPractice),
      [true],
    );
    const { reference, manageUrl } = await book(widgetId);
    assert.equal(manageUrl, `${address}/booking/${reference}`);
    assert.match((await open(address)).body, new RegExp(`${reference}[\\s\\S]*Consultation \\(sample\\)`));

    const check = await askApp(local.app, admin, `POST /connections/${connectionId}/check`, { book: true });
    const { isWorking, exchanges } = check.body as ConnectionCheckAnswer;
    assert.ok(isWorking && exchanges.length > 0, JSON.stringify(check.body));
  });

  test("an appointment is cancelled on its page, and only by a form of that page", async () => {
    const { widgetId } = await goLive();
    const { reference, manageUrl } = await book(widgetId);
    const cancel = (origin: string) =>
      local.app.inject({
        method: "POST",
        url: new URL(manageUrl).pathname,
        headers: { "content-type": "application/x-www-form-urlencoded", host: "localhost:3000", origin },
        payload: "",
      });
    assert.equal((await cancel("https://elsewhere.example")).statusCode, 403);
    assert.ok(!(await open(manageUrl)).body.includes("This appointment is cancelled"));
    assert.equal((await cancel("http://localhost:3000")).statusCode, 303);
    assert.match((await open(manageUrl)).body, /This appointment is cancelled/);
    assert.equal((await open(manageUrl.replace(reference, "SVC-222222"))).statusCode, 404);
  });

  test("clearing test data keeps the appointments that were made live", async () => {
    const { admin, widgetId } = await goLive();
    await book(widgetId);
    const { manageUrl } = await book(widgetId, 1);
    await askApp(local.app, admin, `POST /widgets/${widgetId}/clear-test-data`, {});
    assert.equal((await open(manageUrl)).statusCode, 200);
  });

  test("where visitors can reach Bookflow, it is neither offered nor reachable", async () => {
    const admin = await signIn(published, { role: "admin" });
    const widgetId = await makeWidget(published.deps.db, admin.organizationId);
    const { practiceUrl } = (await askApp(published.app, admin, "GET /connections")).body as AppConnectionList;
    assert.equal(practiceUrl, null);
    for (const origin of ["http://localhost:3000", "https://book.example.com"]) {
      const { status } = await connect(published, admin, `${origin}/practice-calcom/${widgetId}`);
      assert.ok(status >= 400, origin);
    }
    assert.equal((await published.app.inject(`/practice-calcom/${widgetId}`)).statusCode, 404);
  });

  test("no other address of this machine can be reached", async () => {
    const admin = await signIn(local, { role: "admin" });
    const widgetId = await makeWidget(local.deps.db, admin.organizationId);
    for (const address of [
      "http://localhost:3000/api",
      `http://127.0.0.1:9/practice-calcom`,
      `http://10.0.0.1/practice-calcom/${widgetId}`,
      "http://localhost:3000/practice-calcom/w_123456789012",
    ])
      assert.ok((await connect(local, admin, address)).status >= 400, address);
  });
});
