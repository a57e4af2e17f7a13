import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../support/app/app.ts";
import { type SignedIn, signIn } from "../support/app/sign-in.ts";
import { whileLocked } from "../support/database/while-locked.ts";

// Each export waits for a locked table, so that several run at the same time.

const service = await createTestApp();
const { app, deps } = service;

const ROUTES: Record<string, string> = {
  "bookings.csv": "bookings",
  "ad-conversions.csv": "bookings",
  "analytics.csv?table=breakdown&dimension=page": "visit_progress",
  "audit.csv": "audit_entries",
};

const download = async ({ headers }: SignedIn, path: string) => {
  const { statusCode, headers: sent, body } = await app.inject({ url: `/api/app/${path}`, headers });
  return {
    status: statusCode,
    retryAfter: sent["retry-after"],
    message: statusCode < 400 ? null : JSON.parse(body).error,
  };
};

for (const [path, table] of Object.entries(ROUTES)) {
  test(`an organization has two exports at the same time: ${path}`, async () => {
    const admin = await signIn(service, { role: "admin", plan: "business" });
    const neighbour = await signIn(service, { role: "admin", plan: "business" });
    const running: ReturnType<typeof download>[] = [];
    await whileLocked(deps.db, table, async () => {
      running.push(download(admin, path), download(admin, path), download(neighbour, path));
      // A dry run takes no place. Both exports have theirs once it is refused.
      const dryRun = `${path}${path.includes("?") ? "&" : "?"}dryRun=true`;
      while ((await download(admin, dryRun)).status === 204);
      const refused = {
        status: 429,
        retryAfter: "15",
        message: {
          code: "rate_limited",
          message: "Your organization is already exporting 2 files. Wait until one of them is downloaded.",
        },
      };
      assert.deepEqual(await download(admin, path), refused);
      assert.deepEqual(await download(admin, dryRun), refused, "the dashboard shows this before it starts a download");
      assert.equal((await download(neighbour, dryRun)).status, 204);
    });
    for (const { status } of await Promise.all(running)) assert.equal(status, 200);
    assert.equal((await download(admin, path)).status, 200);
  });
}
