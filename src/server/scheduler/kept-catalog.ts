import { MINUTE_MS } from "#contract/durations.ts";
import type { Clock } from "../lib/clock.ts";
import { createKeptRead, type KeptRead } from "./kept-read.ts";
import { found, type OfferedService, type Read, type UnlimitedSystem } from "./scheduling-system.ts";

const KEPT_MS = MINUTE_MS;
const TIMEOUT_MS = 8_000;

/** Keeps what a system offers for a while, because every visitor's frame starts with it. */
export function createKeptCatalog<
  Catalog extends { readonly services: readonly { readonly offered: OfferedService }[] },
>(
  deps: { clock: Clock },
  load: (signal: AbortSignal) => Promise<Read<Catalog>>,
): KeptRead<Catalog> & Pick<UnlimitedSystem, "listServices"> {
  const kept = createKeptRead<Catalog>(deps, { timeoutMs: TIMEOUT_MS, toKeptMs: () => KEPT_MS, load });
  return {
    ...kept,
    listServices: async (signal) => {
      const known = await kept.get(signal);
      return known.kind === "found" ? found(known.value.services.map(({ offered }) => offered)) : known;
    },
  };
}
