import type { FromFrame, Theme } from "../messages.ts";
import type { VisitorAttribution } from "./attribution.ts";

/** State shared by the parts of the loader on one page. */
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
