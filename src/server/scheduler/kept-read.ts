import { MINUTE_MS } from "#contract/durations.ts";
import type { Clock } from "../lib/time/clock.ts";
import { toAbortCode } from "./outbound.ts";
import { OFFERED } from "./reply-limits.ts";
import type { RequestBudget } from "./request-budget.ts";
import {
  type Failure,
  found,
  isOverLimit,
  type OfferedService,
  overLimit,
  type Read,
  refused,
  type UnlimitedSystem,
  unavailable,
} from "./scheduling-system.ts";

/**
 * A read whose result is kept for a while and shared by everyone who asks at the same time. It has a time limit of its own,
 * so a caller who leaves doesn't end it for the others. Failures are reported to everyone who waits, and not kept.
 */
export type KeptRead<T> = {
  /**
   * `admit` is called before a value is read that nobody else is reading already. It may refuse that. While a read is over a limit,
   * an older value is returned if there is one.
   */
  get(signal: AbortSignal, admit?: (isKnown: boolean) => Failure | null): Promise<Read<T>>;
  /** Reads again, bypassing the kept value. */
  refresh(signal: AbortSignal): Promise<Read<T>>;
  /** Drops this value, unless a newer one has replaced it. */
  forget(value: T): void;
};

export function createKeptRead<T>(
  deps: { clock: Clock },
  options: {
    timeoutMs: number;
    toKeptMs: (value: T) => number;
    /** How much longer a value may be returned while a new one is over a limit. */
    olderMs?: number;
    /** False once something has happened that the value cannot know. */
    isCurrent?: (value: T) => boolean;
    load: (signal: AbortSignal) => Promise<Read<T>>;
  },
): KeptRead<T> {
  let kept: { readonly value: T; readonly readAtMs: number; readonly keptMs: number } | null = null;
  let underWay: Promise<Read<T>> | null = null;

  const load = async (): Promise<Read<T>> => {
    const read = await options.load(AbortSignal.timeout(options.timeoutMs));
    if (read.kind === "found") {
      kept = { value: read.value, readAtMs: deps.clock.now().getTime(), keptMs: options.toKeptMs(read.value) };
    }
    return read;
  };
  const refresh = async (signal: AbortSignal): Promise<Read<T>> => {
    if (signal.aborted) return toGivenUp(signal);
    underWay ??= load().finally(() => {
      underWay = null;
    });
    return await untilAborted(underWay, signal);
  };
  return {
    refresh,
    get: async (signal, admit) => {
      // A clock that was set back must not keep a value for longer.
      const ageMs = Math.abs(deps.clock.now().getTime() - (kept?.readAtMs ?? 0));
      if (kept !== null && ageMs < kept.keptMs && (options.isCurrent?.(kept.value) ?? true)) return found(kept.value);
      const older = kept !== null && ageMs < kept.keptMs + (options.olderMs ?? 0) ? found(kept.value) : null;
      const refusal = underWay === null && !signal.aborted ? (admit?.(older !== null) ?? null) : null;
      const read = refusal ?? (await refresh(signal));
      return older !== null && isOverLimit(read) ? older : read;
    },
    forget: (value) => {
      if (kept?.value === value) kept = null;
    },
  };
}

async function untilAborted<T>(read: Promise<Read<T>>, signal: AbortSignal): Promise<Read<T>> {
  const { promise, resolve } = Promise.withResolvers<Read<T>>();
  const giveUp = (): void => resolve(toGivenUp(signal));
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([read, promise]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

function toGivenUp(signal: AbortSignal): Failure {
  return unavailable({ status: null, requestId: null, failure: toAbortCode(signal) });
}

const KEPT_MS = MINUTE_MS;
const OLDER_MS = 10 * MINUTE_MS;
const TIMEOUT_MS = 8_000;

type AnyCatalog = { readonly services: readonly { readonly offered: OfferedService }[] };

type KeptCatalog<Catalog extends AnyCatalog> = KeptRead<Catalog> &
  Pick<UnlimitedSystem, "listServices"> & {
    /** Refused if there is no such service, or if the person cannot be chosen for it. */
    findService(
      wanted: { readonly serviceId: string; readonly staffId: string | null },
      signal: AbortSignal,
    ): Promise<Read<{ catalog: Catalog; service: Catalog["services"][number] }>>;
  };

/** Keeps what a system offers for a while, because every visitor's frame starts with it. */
export function createKeptCatalog<Catalog extends AnyCatalog>(
  deps: { clock: Clock; budget: RequestBudget },
  load: (signal: AbortSignal) => Promise<Read<Catalog>>,
): KeptCatalog<Catalog> {
  const options = { timeoutMs: TIMEOUT_MS, toKeptMs: () => KEPT_MS, olderMs: OLDER_MS, load };
  const kept = createKeptRead<Catalog>(deps, options);
  const admit = (isKnown: boolean): Failure | null =>
    isKnown && !deps.budget.allows("renewal") ? overLimit("account") : null;
  const get = (signal: AbortSignal) => kept.get(signal, admit);
  const shown = new WeakMap<Catalog, OfferedService[]>();
  return {
    ...kept,
    get,
    listServices: async (signal) => {
      const known = await get(signal);
      if (known.kind !== "found") return known;
      const services = shown.get(known.value) ?? toShownServices(known.value);
      shown.set(known.value, services);
      return found(services);
    },
    findService: async ({ serviceId, staffId }, signal) => {
      const known = await get(signal);
      if (known.kind !== "found") return known;
      const service = known.value.services.find(({ offered }) => offered.id === serviceId);
      if (service === undefined) return refused("not_found");
      const isChoosable = staffId === null || service.offered.staff.some(({ id }) => id === staffId);
      return isChoosable ? found({ catalog: known.value, service }) : refused("invalid");
    },
  };
}

/** The service of an appointment, which may no longer be offered. Then it is read by itself. */
export async function findBookedService<Service>(
  offered: Read<{ service: Service }>,
  readOne: () => Promise<Read<Service>>,
): Promise<Read<Service>> {
  if (offered.kind === "found") return found(offered.value.service);
  return offered.kind === "refused" && offered.reason === "not_found" ? await readOne() : offered;
}

/** Every visitor's frame gets them, whatever the system sends. */
function toShownServices({ services }: AnyCatalog): OfferedService[] {
  const shown: OfferedService[] = [];
  let left = OFFERED.characters;
  for (const { offered } of services.slice(0, OFFERED.services)) {
    const service = toShown(offered);
    left -= JSON.stringify(service).length;
    if (left < 0) break;
    shown.push(service);
  }
  return shown;
}

function toShown(service: OfferedService): OfferedService {
  return {
    ...service,
    name: cut(service.name, OFFERED.nameLength),
    description: service.description === null ? null : cut(service.description, OFFERED.textLength),
    staff: service.staff.slice(0, OFFERED.staff),
    questions: service.questions
      .slice(0, OFFERED.questions)
      .map((question) => ({ ...question, label: cut(question.label, OFFERED.textLength) })),
  };
}

function cut(text: string, length: number): string {
  return text.slice(0, length).toWellFormed();
}

/** For "Test". `unreadCount`: how many more the system has, which were not read. */
export function warnOfMany(catalog: AnyCatalog, noun: "event types" | "services", unreadCount = 0): string[] {
  const [shown, all] = [toShownServices(catalog).length, catalog.services.length + unreadCount];
  return shown < all ? [`Only the first ${shown} ${noun} are offered; there are ${all}.`] : [];
}
