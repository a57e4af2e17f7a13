import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { systemRandom } from "../lib/random.ts";
import { ApiError } from "./api-error.ts";
import { makeRequestId } from "./request-id.ts";
import { commonHeaders } from "./response-headers.ts";

// Faults of HTTP itself. Node would answer each with a bare status line; here they get the shape of every other error.

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** What is not HTTP never becomes a request, so its answer is written by hand. */
export function refuseMalformedRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const body = JSON.stringify(new ApiError("bad_request", "The request is not valid HTTP.").body);
  const headers = {
    ...commonHeaders(makeRequestId(systemRandom)),
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${STATUS_LINES[error.code ?? ""] ?? "400 Bad Request"}`;
  if (socket.writable) socket.write([statusLine, ...lines, "", body].join("\r\n"));
  socket.destroy(error);
}

/** Requests that Node refuses before Fastify hears of them. */
export function takeOverRefusals(app: FastifyInstance): void {
  // RFC 9110 leaves it to the server whether it minds an expectation that it does not know.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  // Every http.Server has this field, set by the option of the same name; its type leaves it out.
  (app.server as Server & { requireHostHeader: boolean }).requireHostHeader = false;
  app.addHook("onRequest", (request, _reply, done) => {
    const isRefused = request.raw.httpVersion === "1.1" && request.headers.host === undefined;
    return isRefused ? done(new ApiError("bad_request", "The request has no Host header.")) : done();
  });
}
