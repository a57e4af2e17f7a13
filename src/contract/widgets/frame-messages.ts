import type { RawAttribution } from "../analytics/attribution.ts";
import type { WidgetOptions } from "./widget.ts";

// Messages between the loader in the host page and the frame in its iframe. The loader passes its context in the fragment
// of the frame's address, which no server sees; later changes are sent as messages. The dashboard's preview also shows the frame.

export type Theme = { accent?: string; mode?: "light" | "dark" | "auto"; radius?: number };

export type Prefill = { name?: string; email?: string; phone?: string; notes?: string };

/** Percent-encoded JSON in the fragment of the frame's address. All of it is optional: a page may have no loader. */
export type FrameContext = {
  /** Tells the frames of one page apart. */
  frame?: string;
  /** The exact origin of the host page, and the only one the frame posts to. */
  hostOrigin?: string;
  mode?: "inline" | "popup";
  locale?: string;
  service?: string;
  prefill?: Prefill;
  theme?: Theme;
  /** The host page's own fonts, as in its style. */
  font?: string;
  attribution?: RawAttribution;
};

/** What the dashboard shows in the frame before it is saved: JSON in the attribute `data-preview` of the iframe. */
export type Preview = Pick<
  WidgetOptions,
  "cornerRadius" | "fontFamily" | "language" | "hourCycle" | "locksTimeZone" | "showsLogo" | "privacyUrl"
> & {
  template: string;
  businessName: string;
};

export const MESSAGE_VERSION = 1;

export type FromFrame =
  | { type: "ready" }
  | { type: "resize"; height: number }
  | { type: "step"; name: string }
  /** Holds nothing personal, because every script of the host page can read it. */
  | { type: "booked"; reference: string; serviceName: string; start: string }
  | { type: "failed"; code: string }
  | { type: "close" };

/** What the host page may change while the frame is open. */
export type FromLoader = Pick<FrameContext, "service" | "prefill" | "theme" | "attribution">;

export type Envelope<Message> = Message & { svc: typeof MESSAGE_VERSION; frame: string };
