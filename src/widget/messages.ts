import type { RawAttribution } from "#contract/attribution.ts";

// What the loader in the host page and the frame in its iframe tell each other. The loader's context travels in the
// fragment of the frame's address, which no server sees; what changes later comes as messages.

export type Theme = { accent?: string; mode?: "light" | "dark" | "auto"; radius?: number };

export type Prefill = { name?: string; email?: string; phone?: string; notes?: string };

/** Fragment of the frame's address: this as JSON, percent-encoded. Everything may be missing: the page also stands alone. */
export type FrameContext = {
  /** Tells the frames of one page apart. */
  frame?: string;
  /** Exact origin of the host page; the frame posts to it and to nobody else. */
  hostOrigin?: string;
  mode?: "inline" | "popup";
  locale?: string;
  service?: string;
  prefill?: Prefill;
  theme?: Theme;
  attribution?: RawAttribution;
};

export const MESSAGE_VERSION = 1;

export type FromFrame =
  | { type: "ready" }
  | { type: "resize"; height: number }
  | { type: "step"; name: string }
  /** Carries nothing personal: every script of the host page can read it. */
  | { type: "booked"; reference: string; serviceName: string; start: string }
  | { type: "failed"; code: string }
  | { type: "close" };

export type FromLoader =
  | { type: "theme"; theme: Theme }
  | { type: "context"; service?: string; prefill?: Prefill; attribution?: RawAttribution };

export type Envelope<Message> = Message & { svc: typeof MESSAGE_VERSION; frame: string };

export function encodeContext(context: FrameContext): string {
  return encodeURIComponent(JSON.stringify(context));
}
