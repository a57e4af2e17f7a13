import type { FastifyRequest } from "fastify";
import { isLoopback } from "#contract/loopback.ts";

/** Proxies and tunnels add at least one of these. */
const FORWARDING_HEADERS = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
];

/**
 * Whether a request comes from this computer without a proxy or tunnel in between. A proxy that adds no header and replaces the
 * host is noticed by the origin that browsers send with forms and bookings.
 */
export function isFromThisComputer({ hostname, headers }: Pick<FastifyRequest, "hostname" | "headers">): boolean {
  const { origin } = headers;
  return (
    isLoopback(hostname) &&
    (origin === undefined || isLoopback(URL.parse(origin)?.hostname ?? "")) &&
    !FORWARDING_HEADERS.some((name) => name in headers)
  );
}
