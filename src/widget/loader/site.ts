import type { FromFrame, Theme } from "../messages.ts";
import type { VisitorAttribution } from "./attribution.ts";

/** What the parts of the loader share on one page. */
export type Site = {
  /** Origin of the service: where the loader itself came from. */
  readonly base: string;
  /** Named on the script tag; "" where none is. */
  readonly widget: string;
  readonly attribution: VisitorAttribution;
  theme: Theme;
  /** Tells whoever listens. */
  tell(widget: string, message: FromFrame): void;
};
