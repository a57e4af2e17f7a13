import { fork } from "node:child_process";
import { join } from "node:path";
import type { Arrival } from "./webhook-receiver.ts";

/** `take` returns what has arrived since the last call. */
export type Receiver = { port: number; take(): Promise<Arrival[]>; stop(): void };

export async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, "webhook-receiver.ts"), { serialization: "advanced" });
  const hear = <T>() => new Promise<T>((resolve) => child.once("message", (message) => resolve(message as T)));
  const { port } = await hear<{ port: number }>();
  return {
    port,
    async take() {
      const response = hear<{ arrivals: Arrival[] }>();
      child.send("take");
      return (await response).arrivals;
    },
    stop: () => child.disconnect(),
  };
}
