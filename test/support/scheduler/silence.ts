import { once } from "node:events";
import type { Outbound } from "../../../src/server/scheduler/outbound.ts";

/** For tests: the system at this address answers nothing before another one has. `endings` says which requests were given up first. */
export function silence(outbound: Outbound, apiUrl: string): { outbound: Outbound; endings: string[] } {
  const answered = Promise.withResolvers<"another answered">();
  const endings: string[] = [];
  const send: Outbound["send"] = async (request, signal) => {
    if (request.url.startsWith(apiUrl)) {
      endings.push(await Promise.race([answered.promise, once(signal, "abort").then(() => "given up")]));
      return { kind: "failure", code: "timeout", wasSent: true };
    }
    const reply = await outbound.send(request, signal);
    answered.resolve("another answered");
    return reply;
  };
  return { outbound: { ...outbound, send }, endings };
}
