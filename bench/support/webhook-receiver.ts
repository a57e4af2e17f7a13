import { createServer } from "node:net";

// A child process that receives webhooks and records when the first byte of each booking's request arrived. It parses and
// answers by hand, because an HTTP server would take as much CPU as the service being measured. Requests to /hang are never
// answered. The message `take` returns the records and clears them.

const REPLY = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

export type Arrival = readonly [reference: string, atMs: number];

let arrivals: Arrival[] = [];

const server = createServer({ noDelay: true }, (socket) => {
  let received = "";
  let firstByteAt = 0;
  socket.setEncoding("latin1");
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: string) => {
    if (received === "") firstByteAt = performance.timeOrigin + performance.now();
    received += chunk;
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
    if (received.length < headEnd + 4 + length) return;
    const isHanging = received.startsWith("POST /hang");
    if (!isHanging) {
      arrivals.push([/"reference":"([^"]+)"/.exec(received)?.[1] ?? "", firstByteAt]);
      socket.write(REPLY);
    }
    received = "";
  });
});

server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as { port: number }).port }));

process.on("message", () => {
  process.send?.({ arrivals });
  arrivals = [];
});
process.on("disconnect", () => process.exit());
