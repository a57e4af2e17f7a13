import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { systemClock } from "../lib/time/clock.ts";
import { createMail } from "../mail/mail.ts";
import { examine } from "./doctor.ts";

const service = await createTestApp();
const deps = { ...service.deps, clock: systemClock, hasBrowserFiles: true };

async function examineFor(check: string, change: Partial<typeof deps> = {}): Promise<[state: string, message: string]> {
  const finding = (await examine({ ...deps, ...change })).find((each) => each.check === check);
  assert.ok(finding, `${check} is examined`);
  return [finding.state, finding.message];
}

test("a new service has no faults, and lists what is missing", async () => {
  const findings = await examine(deps);
  assert.deepEqual(
    findings.filter(({ state }) => state !== "ok").map(({ check, state }) => [check, state]),
    [
      ["people", "warning"],
      ["mail", "warning"],
    ],
  );
});

test("a wrong clock, missing builds and an address without TLS are found", async () => {
  const late = { now: () => new Date(Date.now() - MINUTE_MS) };
  assert.match((await examineFor("clock", { clock: late })).join(" "), /^warning .*differ by 6\d s/);
  assert.equal((await examineFor("browser files", { hasBrowserFiles: false }))[0], "fault");
  const config = { ...deps.config, baseUrl: "http://book.example" };
  assert.equal((await examineFor("address", { config }))[0], "warning");
});

test("an address that leads only to this computer is reported when others can reach Bookflow", async () => {
  const examineHost = (host: string) => examineFor("address", { config: { ...deps.config, host } });
  assert.match(
    (await examineHost("0.0.0.0")).join(" "),
    /^warning Other computers can reach Bookflow \(HOST is 0\.0\.0\.0\), .* Set BASE_URL/,
  );
  for (const host of ["localhost", "127.0.0.1", "::1"]) assert.equal((await examineHost(host))[0], "ok", host);
});

test("an unreachable mail server is a fault, reported by its code only", async () => {
  const mail = createMail({
    config: { ...deps.config, smtpUrl: "smtp://who:secret@127.0.0.1:1" },
    log: deps.log,
    metrics: deps.metrics,
  });
  const [state, message] = await examineFor("mail", { mail });
  assert.deepEqual(
    [state, message],
    ["fault", "Can't reach the mail server (ESOCKET). Check the host and port in SMTP_URL."],
  );
});

test("unsettled bookings are a fault", async () => {
  const owner = await makeOrganization(deps.db);
  const widgetId = await makeWidget(deps.db, owner);
  const longAgo = new Date(Date.now() - HOUR_MS);
  await sql`insert into pending_bookings (organization_id, reference, widget_id, asked_in, key_hash, service_id, start_at, state,
      asking_until, touch, created_at)
    values (${owner}, 'SVC-222222', ${widgetId}, 'sandbox', 'x', 's', ${longAgo}, 'asking', ${longAgo}, '{}', ${longAgo})`.execute(
    deps.db,
  );
  assert.match((await examineFor("bookings")).join(" "), /^fault 1 booking without a result for several minutes\./);
});
