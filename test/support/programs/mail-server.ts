import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { after } from "node:test";

export type MailReplies = {
  recipient: string;
  /** It never says that it has accepted an email. */
  isSilent?: boolean;
  /** It closes the connection instead of saying so. */
  hangsUp?: boolean;
  /** Replies to the connections in turn, and then 220. */
  greetings?: string[];
  /** Replies to the logins in turn. Without them, it asks nobody to log in. */
  logins?: string[];
};

/** A mail server that accepts one email per connection and keeps it. */
export async function openMailServer(reply: MailReplies = { recipient: "250 OK" }) {
  const mails: string[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((socket: Socket) => {
    let isBody = false;
    let text = "";
    socket.setEncoding("utf8").on("error", () => undefined);
    socket.write(`${reply.greetings?.shift() ?? "220 mail.example"}\r\n`);
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (isBody) {
        if (!text.endsWith("\r\n.\r\n")) return;
        mails.push(text);
        isBody = false;
        if (reply.hangsUp) socket.destroy();
        else if (!reply.isSilent) socket.write("250 OK\r\n");
        for (const go of waiting.splice(0)) go();
      } else if (text.startsWith("DATA")) {
        isBody = true;
        socket.write("354 Go on\r\n");
      } else socket.write(`${toReply(text, reply)}\r\n`);
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

function toReply(command: string, { recipient, logins }: MailReplies): string {
  if (command.startsWith("RCPT")) return recipient;
  if (command.startsWith("EHLO") && logins) return "250-mail.example\r\n250 AUTH PLAIN";
  return (command.startsWith("AUTH") && logins?.shift()) || "250 OK";
}

/** Decodes quoted-printable, which wraps lines in emails. */
export const toMailText = (mail = "") =>
  mail
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
