import type { Socket } from "node:net";
import type { ApiErrorBody } from "#contract/api-error.ts";

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** What is not HTTP never becomes a request, so its answer is written by hand, in the same shape as every other error. */
export function refuseMalformedRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const body = JSON.stringify({
    error: { code: "bad_request", message: "The request is not valid HTTP." },
  } satisfies ApiErrorBody);
  const statusLine = STATUS_LINES[error.code ?? ""] ?? "400 Bad Request";
  if (socket.writable)
    socket.write(
      `HTTP/1.1 ${statusLine}\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  socket.destroy(error);
}
