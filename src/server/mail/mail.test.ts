import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, test } from "node:test";
import type { OrganizationId } from "#contract/ids.ts";
import { createTestApp, type TestApp } from "../../../test/support/app/app.ts";
import { openBrowser } from "../../../test/support/app/browser-session.ts";
import { signIn } from "../../../test/support/app/sign-in.ts";
import { type MailReplies, openMailServer, toMailText } from "../../../test/support/programs/mail-server.ts";
import { createLog } from "../lib/log/log.ts";
import { createMetrics, type Metrics } from "../lib/log/metrics.ts";
import { createMail } from "./mail.ts";
import { renderLetter, renderPlainLetter } from "./render-letter.ts";

const RESET = { mail: "reset" } as const;

async function readCounts(metrics: Pick<Metrics, "read">): Promise<string[]> {
  return (await metrics.read()).split("\n").flatMap((line) => /^bookflow_mails_total(.*)/.exec(line)?.[1] ?? []);
}

test("mails are counted by outcome: sent, or not sent without a mail server", async () => {
  const server = await openMailServer();
  const [log, metrics] = [createLog("error", { write: () => undefined }), createMetrics()];
  const config = { smtpUrl: server.url, mailFrom: "a@book.example", baseUrl: "https://book.example" };
  const letter = {
    to: "guest@example.com",
    purpose: RESET,
    subject: "S",
    text: "T",
    action: "Open",
    link: "https://book.example/x",
  };
  await createMail({ config, log, metrics }).send(letter);
  await createMail({ config: { ...config, smtpUrl: null }, log, metrics }).send(letter);
  const counts = ['{outcome="sent"} 1', '{outcome="failed"} 0', '{outcome="not_sent"} 1'];
  assert.deepEqual(await readCounts(metrics), counts);
});

test("a mail has text and HTML, with its link in both and everything escaped", () => {
  const letter = { subject: "A <b>", text: 'From "Ada" & Co', action: "Open", link: "https://book.example/x?a=1&b=2" };
  const server = "https://book.example";
  assert.equal(
    renderPlainLetter(letter, server),
    `From "Ada" & Co\n\nOpen: https://book.example/x?a=1&b=2\n\nBookflow at https://book.example\n`,
  );
  const page = renderLetter(letter, server).toString();
  assert.ok(page.includes("A &lt;b&gt;") && page.includes("From &quot;Ada&quot; &amp; Co"));
  assert.equal(
    page.match(/href="https:\/\/book\.example\/x\?a=1&amp;b=2"/g)?.length,
    2,
    "a button, and the address below it",
  );
  assert.doesNotMatch(page, /<img|<script|<link|src=/, "nothing is loaded");
});

test("without a mail server, the log has the link, without the person's address", async () => {
  const lines: string[] = [];
  const config = { smtpUrl: null, mailFrom: "a@book.example", baseUrl: "https://book.example" };
  const log = createLog("warn", { write: (line) => lines.push(line) });
  const link = "https://book.example/sign-up?token=abc&email=guest%40example.com";
  const letter = { to: "guest@example.com", subject: "S", text: "T", action: "Open", link };
  await createMail({ config, log, metrics: createMetrics() }).send({ ...letter, purpose: RESET });
  const { at: _, ...line } = JSON.parse(lines[0] ?? "");
  const shown = "https://book.example/sign-up?token=abc";
  assert.deepEqual(line, { level: "warn", name: "mail.not_sent", mail: "reset", link: shown });
});

test("with a mail server, links are mailed and neither shown nor logged", async () => {
  const server = await openMailServer();
  const testApp = await createTestApp({ smtpUrl: server.url, mailFrom: "Bookflow <hello@book.example>" });
  const admin = await signIn(testApp, { role: "admin" });
  const payload = { email: "guest@example.com", role: "viewer" };
  const { body } = await openBrowser(testApp, admin).send("POST", "/api/app/invitations", payload);
  assert.deepEqual([body.mail, body.link], ["sent", null]);
  const mail = toMailText(server.mails[0]);
  assert.match(
    mail,
    /^From: Bookflow <hello@book\.example>\r\nTo: guest@example\.com\r\nSubject: You have been invited to Bookflow\r$/m,
  );
  const link = /http:\/\/localhost:3000\/invitation\?token=(\w+)/.exec(mail);
  assert.ok(link);
  assert.match(mail, /Content-Type: multipart\/alternative/);
  assert.match(mail, new RegExp(`\\(${admin.email}\\) has invited you to join`));
  assert.ok(!testApp.lines.join("").includes("token="));
  const guest = { token: link[1], name: "Guest", password: "a long password" };
  assert.equal((await openBrowser(testApp).send("POST", "/api/app/invitations/accept", guest)).status, 200);
  assert.equal(await isProven(testApp, payload.email), true);
});

for (const [what, url] of [
  ["refuses it", async () => (await openMailServer({ recipient: "550 nobody here" })).url],
  ["is unreachable", async () => "smtp://127.0.0.1:1"],
] as const) {
  test(`an invitation whose mail server ${what} returns the link to the inviting member, and verifies no address`, async () => {
    const testApp = await createTestApp({ smtpUrl: await url() });
    const admin = await signIn(testApp, { role: "admin" });
    const payload = { email: "guest@example.com", role: "viewer" };
    const { status, body } = await openBrowser(testApp, admin).send("POST", "/api/app/invitations", payload);
    assert.deepEqual([status, body.mail], [201, "failed"]);
    assert.ok(!testApp.lines.join("").includes("token="));
    const guest = { token: new URL(body.link).searchParams.get("token"), name: "Guest", password: "a long password" };
    assert.equal((await openBrowser(testApp).send("POST", "/api/app/invitations/accept", guest)).status, 200);
    assert.equal(await isProven(testApp, payload.email), false);
  });
}

async function isProven({ deps }: TestApp, email: string): Promise<boolean> {
  const people = deps.db.selectFrom("users").select("email_verified").where("email", "=", email);
  return (await people.executeTakeFirstOrThrow()).email_verified;
}

test("a reset link is emailed too", async () => {
  const server = await openMailServer();
  const testApp = await createTestApp({ smtpUrl: server.url });
  const { email } = await signIn(testApp, { role: "admin" });
  await openBrowser(testApp).send("POST", "/api/auth/request-password-reset", { email });
  await server.next();
  assert.match(toMailText(server.mails[0]), /http:\/\/localhost:3000\/reset-password\?token=\w+/);
});

test("a refusal by the mail server is logged and counted, without the address", async () => {
  const server = await openMailServer({ recipient: "550 <guest@example.com> is not here" });
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => lines.push(line) });
  const metrics = createMetrics();
  const mail = createMail({
    config: { smtpUrl: server.url, mailFrom: "a@book.example", baseUrl: "https://book.example" },
    log,
    metrics,
  });
  assert.deepEqual(await readCounts(metrics), ['{outcome="sent"} 0', '{outcome="failed"} 0']);
  const purpose = { mail: "invitation", organizationId: "org_1" as OrganizationId } as const;
  const letter = { subject: "S", text: "T", action: "Open", link: "https://book.example/x" };
  await mail.send({ to: "guest@example.com", purpose, ...letter });
  assert.deepEqual(await readCounts(metrics), ['{outcome="sent"} 0', '{outcome="failed"} 1']);
  const [{ at: _, ...line }, ...more] = lines.map((text) => JSON.parse(text));
  assert.deepEqual(more, []);
  assert.deepEqual(line, { level: "error", name: "mail.failed", ...purpose, outcome: "EENVELOPE" });
});

const WELCOME = "235 Welcome";
const REPORT_CASES: readonly [what: string, replies: Partial<MailReplies>, outcome: string][] = [
  ["accepted", {}, "sent"],
  ["refused for good", { recipient: "550 Nobody here" }, "refused"],
  ["deferred", { recipient: "451 Not now" }, "failed"],
  ["never offered because its login is refused", { logins: [WELCOME, "535 Not now"] }, "failed"],
  ["never offered because its connection is refused", { greetings: ["220 Hello", "554 Too busy"] }, "failed"],
  ["sent just before the connection breaks", { hangsUp: true }, "unknown"],
];
for (const [what, replies, outcome] of REPORT_CASES) {
  test(`after a first login that works, the outcome of a report that is ${what} is ${outcome}`, async () => {
    const server = await openMailServer({ recipient: "250 OK", logins: [WELCOME, WELCOME], ...replies });
    const smtpUrl = server.url.replace("smtp://", "smtp://bookflow:secret@");
    const log = createLog("error", { write: () => undefined });
    const mail = createMail({
      config: { smtpUrl, mailFrom: "a@book.example", baseUrl: "https://book.example" },
      log,
      metrics: createMetrics(),
    });
    const picture = { cid: "chart@book.example", content: Buffer.from("png") };
    const purpose = { mail: "report" } as const;
    const report = {
      to: "guest@example.com",
      purpose,
      subject: "S",
      text: "T",
      html: "<p>T</p>",
      picture,
      headers: {},
    };
    assert.equal(await mail.sendOnce(report), outcome);
  });
}

test("a mail server that never finishes its reply is given up, and its connection is closed", async () => {
  const connections: Promise<unknown>[] = [];
  const server = createServer((socket) => {
    connections.push(new Promise((resolve) => socket.once("close", resolve)));
    socket.resume().on("error", () => undefined);
    socket.write("220 mail.example\r\n");
    const timer = setInterval(() => socket.write("2"), 20);
    socket.once("close", () => clearInterval(timer));
  }).listen(0, "127.0.0.1");
  after(() => server.close());
  await once(server, "listening");
  const smtpUrl = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const log = createLog("error", { write: () => undefined });
  const deps = {
    config: { smtpUrl, mailFrom: "a@book.example", baseUrl: "https://book.example" },
    log,
    metrics: createMetrics(),
  };
  const mail = createMail(deps, { limitMs: 100 });
  assert.equal(await mail.check(), "ETIMEDOUT");
  assert.equal(
    await mail.send({
      to: "guest@example.com",
      purpose: RESET,
      subject: "S",
      text: "T",
      action: "Open",
      link: "https://book.example/x",
    }),
    false,
  );
  assert.ok((await Promise.all(connections)).length > 0);
});

test("an unreachable mail server delays no response", async () => {
  const testApp = await createTestApp({ smtpUrl: "smtp://127.0.0.1:1" });
  const { email } = await signIn(testApp, { role: "admin" });
  const { status } = await openBrowser(testApp).send("POST", "/api/auth/request-password-reset", { email });
  assert.equal(status, 200);
});
