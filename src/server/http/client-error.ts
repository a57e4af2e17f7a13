import { type IncomingMessage, METHODS, type Server } from "node:http";
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

/** What was received, as a Buffer; Fastify's type of it is another. */
type HttpFault = NodeJS.ErrnoException & { readonly rawPacket?: unknown };

/** What is not HTTP never becomes a request, so its answer is written by hand. */
export function refuseMalformedRequest(error: HttpFault, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const isUnknown = hasUnknownMethod(error);
  const refusal = isUnknown
    ? new ApiError("not_implemented", "This server doesn't support the request's method.")
    : new ApiError("bad_request", "The request is not valid HTTP.");
  const body = JSON.stringify(refusal.body);
  const headers = {
    ...commonHeaders(makeRequestId(systemRandom)),
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const status = isUnknown ? "501 Not Implemented" : (STATUS_LINES[error.code ?? ""] ?? "400 Bad Request");
  const statusLine = `HTTP/1.1 ${status}`;
  if (socket.writable) socket.write([statusLine, ...lines, "", body].join("\r\n"));
  socket.destroy(error);
}

const REQUEST_LINE = /^([\w!#$%&'*+.^`|~-]+) [^\s\p{Cc}]+ HTTP\/1\.[01]\r\n/u;
const REQUEST_LINE_LENGTH_MAX = 8192;

/** Node reads no further than a method that it does not know; the line is a request's all the same. */
function hasUnknownMethod({ code, rawPacket }: HttpFault): boolean {
  if (code !== "HPE_INVALID_METHOD" || !Buffer.isBuffer(rawPacket)) return false;
  const method = REQUEST_LINE.exec(rawPacket.toString("latin1", 0, REQUEST_LINE_LENGTH_MAX))?.[1];
  return method !== undefined && !METHODS.includes(method);
}

/** Requests that Node refuses before Fastify hears of them. */
export function takeOverRefusals(app: FastifyInstance): void {
  // RFC 9110 leaves it to the server whether it minds an expectation that it does not know.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  // Every http.Server has this field, set by the option of the same name; its type leaves it out.
  (app.server as Server & { requireHostHeader: boolean }).requireHostHeader = false;
  app.addHook("onRequest", (request, _reply, done) => {
    const fault = findHostFault(request.raw);
    return fault === null ? done() : done(new ApiError("bad_request", fault));
  });
}

const HOST = "host";

/** Of two Host headers Node takes the first, and a proxy may have taken the other. */
function findHostFault({ httpVersion, rawHeaders }: IncomingMessage): string | null {
  let hosts = 0;
  // Names and values take turns.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === HOST.length && name.toLowerCase() === HOST) hosts++;
  }
  if (hosts > 1) return "The request has more than one Host header.";
  return hosts === 0 && httpVersion === "1.1" ? "The request has no Host header." : null;
}
