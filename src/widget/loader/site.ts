import type { FromFrame, Theme } from "#contract/widgets/frame-messages.ts";
import type { VisitorAttribution } from "./attribution.ts";

export type Site = {
  /** The service's origin, from which the loader itself was loaded. */
  readonly base: string;
  /** From the script tag; "" if it names none. */
  readonly widget: string;
  readonly attribution: VisitorAttribution;
  theme: Theme;
  /** Notifies all listeners. */
  tell(widget: string, message: FromFrame): void;
};
