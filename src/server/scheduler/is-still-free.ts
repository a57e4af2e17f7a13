import { type BookRequest, found, type Read, type UnlimitedSystem } from "./scheduling-system.ts";

/** Whether the requested time is still free. Asks for slots that start at exactly that time. */
export async function isStillFree(
  listSlots: UnlimitedSystem["listSlots"],
  { serviceId, staffId, startAt }: BookRequest,
  signal: AbortSignal,
): Promise<Read<boolean>> {
  const range = { from: startAt, to: new Date(startAt.getTime() + 1) };
  const slots = await listSlots({ serviceId, staffId, ...range }, signal);
  return slots.kind === "found" ? found(slots.value.length > 0) : slots;
}
