import { AsyncLocalStorage } from "node:async_hooks";
import { isDatabaseUnavailable } from "../../db/connections/database-unavailable.ts";

// better-auth turns a failed statement into "no session" or its own error response. During a database outage that would sign
// people out. So a call in which it reported such a failure fails with that failure, and gets 503 like any other request.

const calls = new AsyncLocalStorage<{ outage: unknown }>();

/** Called through better-auth's log, where it reports every failure it handles itself. */
export function noteFault(error: unknown): void {
  const call = calls.getStore();
  if (call && isDatabaseUnavailable(error)) call.outage = error;
}

export async function rethrowDatabaseErrors<T>(work: () => Promise<T>): Promise<T> {
  const call = { outage: null as unknown };
  try {
    const result = await calls.run(call, work);
    if (call.outage !== null) throw call.outage;
    return result;
  } catch (error) {
    throw call.outage ?? error;
  }
}
