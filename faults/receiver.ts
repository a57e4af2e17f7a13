import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** How the business's own system answers webhooks. */
export type ReceiverMode = "well" | "hangs" | "resets" | "fails" | "breaks off" | "babbles";

export type Receiver = {
  readonly url: string;
  mode: ReceiverMode;
  /** References accepted with 200, and how often. */
  readonly taken: Map<string, number>;
  close(): void;
};

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    switch (receiver.mode) {
      case "hangs":
        return;
      case "resets":
        return void request.socket.resetAndDestroy();
      case "fails":
        return void response.writeHead(500).end("no");
      case "breaks off":
        return void response.writeHead(500, { "content-length": "1000" }).write("half", () => response.destroy());
      case "babbles":
        return void request.socket.end("HTTP/1.1 banana\r\n\r\n");
      case "well": {
        const { data } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as {
          data: { booking: { reference: string } };
        };
        const { reference } = data.booking;
        receiver.taken.set(reference, (receiver.taken.get(reference) ?? 0) + 1);
        return void response.writeHead(200).end("ok");
      }
      default:
        return receiver.mode satisfies never;
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    mode: "well",
    taken: new Map(),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
