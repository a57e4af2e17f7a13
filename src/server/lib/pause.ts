import { setTimeout } from "node:timers/promises";

export async function pause(ms: number): Promise<void> {
  await setTimeout(ms);
}
