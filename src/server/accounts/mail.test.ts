import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { createTestApp } from "../../../test/support/app.ts";
import { openBrowser } from "../../../test/support/browser-session.ts";
import { signIn } from "../../../test/support/sign-in.ts";
import { createLog } from "../lib/log.ts";
import { createMail } from "./mail.ts";

/** A mail server that takes one mail per connection and keeps it. */
async function openMailServer(reply: { recipient: string } = { recipient: "250 OK" }) {
  const mails: string[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((socket: Socket) => {
    let isBody = false;
    let text = "";
    socket.setEncoding("utf8").on("error", () => undefined);
    socket.write("220 mail.example\r\n");
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (isBody) {
        if (!text.endsWith("\r\n.\r\n")) return;
        mails.push(text);
        isBody = false;
        socket.write("250 OK\r\n");
        for (const go of waiting.splice(0)) go();
      } else if (text.startsWith("DATA")) {
        isBody = true;
        socket.write("354 Go on\r\n");
      } else socket.write(`${text.startsWith("RCPT") ? reply.recipient : "250 OK"}\r\n`);
      text = "";
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const next = () => (mails.length > 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)));
  return { url: `smtp://127.0.0.1:${port}`, mails, next };
}

/** Undoes quoted-printable, in which mails break their lines. */
const toText = (mail = "") =>
  mail
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

test("with a mail server, links are mailed, and neither shown nor logged", async () => {
  const server = await openMailServer();
  const testApp = await createTestApp({ smtpUrl: server.url, mailFrom: "Bookflow <hello@book.example>" });
  const admin = await signIn(testApp, { role: "admin" });
  const payload = { email: "guest@example.com", role: "viewer" };
  const { body } = await openBrowser(testApp, admin).send("POST", "/api/app/invitations", payload);
  assert.equal(body.link, null);
  await server.next();
  const mail = toText(server.mails[0]);
  assert.match(
    mail,
    /^From: Bookflow <hello@book\.example>\r\nTo: guest@example\.com\r\nSubject: Join Lindenhof Dental/m,
  );
  const link = /http:\/\/localhost:3000\/invitation\?token=(\w+)/.exec(mail);
  assert.ok(link);
  assert.ok(!testApp.lines.join("").includes("token="));
  const guest = { token: link[1], name: "Guest", password: "a long password" };
  assert.equal((await openBrowser(testApp).send("POST", "/api/app/invitations/accept", guest)).status, 200);
});

test("a password link is mailed too", async () => {
  const server = await openMailServer();
  const testApp = await createTestApp({ smtpUrl: server.url });
  const { email } = await signIn(testApp, { role: "admin" });
  await openBrowser(testApp).send("POST", "/api/auth/request-password-reset", { email });
  await server.next();
  assert.match(toText(server.mails[0]), /http:\/\/localhost:3000\/reset-password\?token=\w+/);
});

test("a mail server that refuses is one line in the log, without the address", async () => {
  const server = await openMailServer({ recipient: "550 <guest@example.com> is not here" });
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => lines.push(line) });
  const mail = createMail({ config: { smtpUrl: server.url, mailFrom: "a@book.example" }, log });
  await mail.send({ to: "guest@example.com", subject: "S", text: "T", link: "https://book.example/x" });
  assert.equal(lines.length, 1);
  assert.match(String(lines[0]), /"name":"mail\.failed"/);
  assert.ok(!lines.join("").includes("guest@"));
});

test("one that is not there delays nobody's answer", async () => {
  const testApp = await createTestApp({ smtpUrl: "smtp://127.0.0.1:1" });
  const { email } = await signIn(testApp, { role: "admin" });
  const { status } = await openBrowser(testApp).send("POST", "/api/auth/request-password-reset", { email });
  assert.equal(status, 200);
});
