import { type Static, Type } from "typebox";
import { UUID_PATTERN } from "./ids.ts";
import { BROWSER_STEPS } from "./steps.ts";

// What a browser sends to POST /embed-api/{widget}/events. Other fields are ignored.

export const COLLECT_EVENTS_MAX = 20;
/** The frame sends up to four addresses of 1,000 characters and campaign parameters of 4,200 in total. */
export const COLLECT_BODY_MAX_BYTES = 16 * 1024;

export const CollectRequest = Type.Object({
  visitId: Type.String({ pattern: UUID_PATTERN }),
  /** The page that embeds the widget. Anything other than a web address is ignored. */
  page: Type.Optional(Type.Unknown()),
  /** The loader's raw fields. An anonymous event keeps only the class derived from them. */
  attribution: Type.Optional(Type.Unknown()),
  events: Type.Array(Type.Object({ step: Type.Union(BROWSER_STEPS.map((step) => Type.Literal(step))) }), {
    minItems: 1,
    maxItems: COLLECT_EVENTS_MAX,
  }),
});
export type CollectRequest = Static<typeof CollectRequest>;
