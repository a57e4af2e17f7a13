import { connect } from "node:net";
import { after } from "node:test";
import type { FastifyInstance } from "fastify";
import { listen } from "../../../src/server/http/listen.ts";

/** A response as received; the body is exactly the bytes after the headers. */
export type WireResponse = { statusLine: string; headers: Record<string, string>; body: string };

/** Makes the app listen as the service does, on a free port, and exchanges raw bytes with it. */
export async function openWire(
  app: FastifyInstance,
  wantedPort = 0,
): Promise<{ port: number; exchange(bytes: string | Buffer, host?: string): Promise<WireResponse | null> }> {
  await listen(app, { host: "127.0.0.1", port: wantedPort });
  after(() => app.close());
  const address = app.server.address();
  if (typeof address !== "object" || address === null) throw new Error("The app listens on no port");
  const { port } = address;
  return { port, exchange: (bytes, host = "127.0.0.1") => exchange({ host, port }, bytes) };
}

/** Sends the bytes and reads until the server closes the connection; null if it closed without a response. */
async function exchange(address: { host: string; port: number }, bytes: string | Buffer): Promise<WireResponse | null> {
  const received = await new Promise<string>((resolve, reject) => {
    const socket = connect(address);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    // A server that refuses mid-request resets the connection; what it sent before counts.
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error);
    });
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
    socket.write(bytes);
  });
  return received === "" ? null : parseResponse(received);
}

function parseResponse(text: string): WireResponse {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return { statusLine, headers, body: text.slice(end + 4) };
}
