import { type IncomingMessage, METHODS, type Server } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { systemRandom } from "../../lib/secrets/random.ts";
import { makeRequestId } from "../request-log.ts";
import { commonHeaders } from "../response-headers.ts";
import { ApiError } from "./api-error.ts";

// Malformed HTTP. Node would answer with a bare status line; here these errors get the shape of all others.

const FAULTS: Readonly<Record<string, { status: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: "431 Request Header Fields Too Large",
    message: "The URL and headers are too long.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: "408 Request Timeout", message: "The request took too long to arrive." },
};
const MALFORMED = { status: "400 Bad Request", message: "The request is not valid HTTP." };

/** The received bytes as a Buffer; Fastify's type is wrong. */
type HttpFault = NodeJS.ErrnoException & { readonly rawPacket?: unknown };

/** Malformed HTTP never becomes a request object, so the response is written to the socket directly. */
export function refuseMalformedRequest(error: HttpFault, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const isUnknown = hasUnknownMethod(error);
  const fault = FAULTS[error.code ?? ""] ?? MALFORMED;
  const refusal = isUnknown
    ? new ApiError("not_implemented", "This server doesn't support the request's method.")
    : new ApiError("bad_request", fault.message);
  const body = JSON.stringify(refusal.body);
  const headers = {
    ...commonHeaders(makeRequestId(systemRandom)),
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${isUnknown ? "501 Not Implemented" : fault.status}`;
  if (socket.writable) socket.write([statusLine, ...lines, "", body].join("\r\n"));
  socket.destroy(error);
}

const REQUEST_LINE = /^([\w!#$%&'*+.^`|~-]+) [^\s\p{Cc}]+ HTTP\/1\.[01]\r\n/u;
const REQUEST_LINE_LENGTH_MAX = 8192;

/** Node stops parsing at a method it does not know, although the request line is valid. */
function hasUnknownMethod({ code, rawPacket }: HttpFault): boolean {
  if (code !== "HPE_INVALID_METHOD" || !Buffer.isBuffer(rawPacket)) return false;
  const method = REQUEST_LINE.exec(rawPacket.toString("latin1", 0, REQUEST_LINE_LENGTH_MAX))?.[1];
  return method !== undefined && !METHODS.includes(method);
}

/** Requests that Node rejects before they reach Fastify. */
export function takeOverRefusals(app: FastifyInstance): void {
  // RFC 9110 lets a server ignore an expectation it does not know.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  // Every http.Server has this field, set by the option of the same name; its type leaves it out.
  (app.server as Server & { requireHostHeader: boolean }).requireHostHeader = false;
  app.addHook("onRequest", (request, _reply, done) => {
    const fault = findHostFault(request.raw);
    return fault === null ? done() : done(new ApiError("bad_request", fault));
  });
}

const HOST = "host";

/** With two Host headers, Node uses the first, but a proxy may have used the second. */
function findHostFault({ httpVersion, rawHeaders }: IncomingMessage): string | null {
  let hosts = 0;
  // The list alternates names and values.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === HOST.length && name.toLowerCase() === HOST) hosts++;
  }
  if (hosts > 1) return "The request has more than one Host header.";
  return hosts === 0 && httpVersion === "1.1" ? "The request has no Host header." : null;
}
