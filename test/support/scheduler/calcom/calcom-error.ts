import type { Reply } from "../local-server.ts";

export function toError(status: number, code: string, message: string, details: object = {}): Reply {
  const error = { code, message, details };
  return { status, json: { status: "error", timestamp: "2026-11-01T12:00:00.000Z", path: "/v2", error } };
}
