import assert from "node:assert/strict";
import { test } from "node:test";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { openMailServer, toMailText } from "../../../../test/support/programs/mail-server.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { deleteEndpoint } from "../endpoints/endpoints.ts";
import { mailNotices } from "./mail-notices.ts";

const NOBODY_STOPS = new AbortController().signal;

/** A service whose only receiver has just answered 410. */
async function switchOff(smtpUrl: string | null) {
  const service = await createWebhookService({ smtpUrl });
  const business = await makeBusiness(service.deps);
  const receiver = await startReplying(() => ({ status: 410 }));
  const { id } = await makeEndpoint(service.deps, business, { url: receiver.url });
  await book(service.deps, business);
  await deliverAll(service.loop);
  const members = await Promise.all(
    (["owner", "admin", "member", "viewer"] as const).map((role) =>
      signIn(service, { role, organizationId: business.owner }),
    ),
  );
  await signIn(service, { role: "owner" });
  return { ...service, business, endpointId: id, addresses: members.map(({ email }) => email) };
}

const listReceivers = (mails: readonly string[]) => mails.map((mail) => /^To: (.*?)\r$/m.exec(mail)?.[1]).sort();

test("only the organization's owners and admins are emailed, once, that an endpoint was turned off", async () => {
  const server = await openMailServer();
  const { deps, business, endpointId, addresses } = await switchOff(server.url);
  await Promise.all([mailNotices(deps, NOBODY_STOPS), mailNotices(deps, NOBODY_STOPS)]);
  await mailNotices(deps, NOBODY_STOPS);
  assert.deepEqual(listReceivers(server.mails), addresses.slice(0, 2).sort());
  const mail = toMailText(server.mails[0]);
  assert.match(mail, /^Subject: A webhook endpoint was turned off \(Lindenhof Dental\)\r$/m);
  assert.match(
    mail,
    /about the endpoint \S+127\.0\.0\.1:\d+\S+ of Lindenhof Dental\. The endpoint was turned off because it returned 410 Gone\. Last attempt \(booking SVC-\w{6}\): HTTP 410\./,
  );
  const link = `${deps.config.baseUrl}/app/${business.owner}/webhooks/${endpointId}`;
  assert.ok(mail.includes(`See its failed deliveries: ${link}`));
  assert.ok(mail.includes(`\nBookflow at ${deps.config.baseUrl}\r\n`));
});

test("a refusing mail server is retried after half an hour, and given up after a day", async () => {
  const reply = { recipient: "451 Not now" };
  const server = await openMailServer(reply);
  const service = await switchOff(server.url);
  const { deps, lines } = service;
  const countRefused = () => lines.filter((line) => line.includes("mail.failed")).length;
  await mailNotices(deps, NOBODY_STOPS);
  await mailNotices(deps, NOBODY_STOPS);
  assert.equal(countRefused(), 2);
  moveClock(service, 31 * 60);
  await mailNotices(deps, NOBODY_STOPS);
  assert.equal(countRefused(), 4);
  moveClock(service, 24 * 3_600);
  reply.recipient = "250 OK";
  await mailNotices(deps, NOBODY_STOPS);
  assert.deepEqual(server.mails, []);
});

test("when a mail server is set later, nobody is emailed about an endpoint that was removed meanwhile", async () => {
  const server = await openMailServer();
  const { deps, business, endpointId } = await switchOff(server.url);
  await deleteEndpoint(deps, business.owner, endpointId, noAudit);
  await mailNotices(deps, NOBODY_STOPS);
  assert.deepEqual(server.mails, []);
});

test("without a mail server nothing is attempted", async () => {
  const { deps, lines } = await switchOff(null);
  await mailNotices(deps, NOBODY_STOPS);
  assert.ok(!lines.join("").includes("mail."));
});
