import type {
  BookRefusal,
  BookRequest,
  BookResponse,
  ConfigResponse,
  FreeSlot,
  SlotsResponse,
} from "#contract/widgets/embed-api.ts";
import { splitRange, type TimeRange } from "./times/slots.ts";

// The frame's requests. Failures are returned as values.

/** `connection`: no complete response arrived. `server`: the response was an error. */
export type LoadFailure = "connection" | "server";

type Loaded<T> = { kind: "loaded"; value: T } | { kind: "failed"; failure: LoadFailure };

export type BookResult =
  | { kind: "booked"; response: BookResponse }
  | { kind: "taken"; fresh: readonly FreeSlot[] }
  | { kind: "fields"; fields: Readonly<Record<string, string>> }
  | { kind: "paused" }
  /** The widget went live or back to test mode after the frame was loaded. */
  | { kind: "changed" }
  | { kind: "busy" }
  /** The server knows that nothing was booked, so the next attempt may use a new key. */
  | { kind: "unavailable" }
  /** It may have been booked, or may still be. */
  | { kind: "uncertain" }
  /** The request may have arrived, so the next try must use the same key. */
  | { kind: "offline" };

const READ_LIMIT_MS = 20_000;
const BOOK_LIMIT_MS = 60_000;

export type Api = ReturnType<typeof createApi>;

export function createApi(widget: string) {
  const base = `/embed-api/${encodeURIComponent(widget)}`;

  return {
    loadConfig: (): Promise<Loaded<ConfigResponse>> => read<ConfigResponse>(`${base}/config`),

    async loadSlots(query: { service: string; staff: string | null; range: TimeRange }): Promise<Loaded<FreeSlot[]>> {
      const responses = await Promise.all(
        splitRange(query.range).map(({ fromMs, toMs }) => {
          const parameters = new URLSearchParams({
            service: query.service,
            from: new Date(fromMs).toISOString(),
            to: new Date(toMs).toISOString(),
            ...(query.staff === null ? {} : { staff: query.staff }),
          });
          return read<SlotsResponse>(`${base}/slots?${parameters}`);
        }),
      );
      const slots: FreeSlot[] = [];
      for (const response of responses) {
        if (response.kind !== "loaded") return response;
        slots.push(...response.value.slots);
      }
      return { kind: "loaded", value: slots };
    },

    async book(request: BookRequest, idempotencyKey: string): Promise<BookResult> {
      try {
        const response = await fetch(`${base}/bookings`, {
          method: "POST",
          headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
          body: JSON.stringify(request),
          signal: AbortSignal.timeout(BOOK_LIMIT_MS),
        });
        return toBookResult(response.status, await response.json());
      } catch {
        return { kind: "offline" };
      }
    },

    /** Browsers limit the size of all beacons together, so they are used only when the page closes. */
    async sendSteps(body: string): Promise<"done" | "later"> {
      try {
        const { status } = await fetch(`${base}/events`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
          keepalive: true,
        });
        return status >= 500 || status === 429 ? "later" : "done";
      } catch {
        return "later";
      }
    },

    beaconSteps(body: string): void {
      navigator.sendBeacon(`${base}/events`, body);
    },
  };
}

async function read<T>(address: string): Promise<Loaded<T>> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(READ_LIMIT_MS) });
    return response.ok
      ? { kind: "loaded", value: (await response.json()) as T }
      : { kind: "failed", failure: "server" };
  } catch {
    return { kind: "failed", failure: "connection" };
  }
}

function toBookResult(status: number, body: unknown): BookResult {
  if (status === 201) return { kind: "booked", response: body as BookResponse };
  // An error may also come from a proxy in front of the server.
  const { error, slots, isSettled } = body as Partial<BookRefusal>;
  switch (error?.code) {
    case "slot_taken":
      return { kind: "taken", fresh: slots ?? [] };
    case "invalid_fields":
      return { kind: "fields", fields: error.fields ?? {} };
    case "widget_paused":
      return { kind: "paused" };
    case "widget_changed":
      return { kind: "changed" };
    case "rate_limited":
      return { kind: "busy" };
    default:
      // Any other refusal (a key used before, a malformed request) means that nothing was booked.
      return { kind: isSettled === true || status < 500 ? "unavailable" : "uncertain" };
  }
}
