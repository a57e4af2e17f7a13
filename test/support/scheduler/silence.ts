import { once } from "node:events";
import type { Outbound } from "../../../src/server/scheduler/outbound.ts";

/**
 * For tests: the system at this address answers nothing until `isOver`, which is looked at after each reply of another one. `endings`
 * says of its requests whether they could wait for that, or were given up.
 */
export function silence(
  outbound: Outbound,
  { apiUrl, isOver }: { apiUrl: string; isOver: () => boolean },
): { outbound: Outbound; endings: string[] } {
  const over = Promise.withResolvers<"waited">();
  const endings: string[] = [];
  const send: Outbound["send"] = async (request, signal) => {
    if (request.url.startsWith(apiUrl)) {
      endings.push(await Promise.race([over.promise, once(signal, "abort").then(() => "given up")]));
      return { kind: "failure", code: "timeout", wasSent: true };
    }
    const reply = await outbound.send(request, signal);
    if (isOver()) over.resolve("waited");
    return reply;
  };
  return { outbound: { ...outbound, send }, endings };
}
