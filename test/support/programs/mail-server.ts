import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { after } from "node:test";

/** A mail server that accepts one email per connection and keeps it. With `isSilent` it never says that it has accepted one. */
export async function openMailServer(reply: { recipient: string; isSilent?: boolean } = { recipient: "250 OK" }) {
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
        if (!reply.isSilent) socket.write("250 OK\r\n");
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

/** Decodes quoted-printable, which wraps lines in emails. */
export const toMailText = (mail = "") =>
  mail
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
