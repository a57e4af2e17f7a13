import { type Static, Type } from "typebox";
import { type RawAttribution as Contract, RawAttribution } from "./attribution.ts";
import { UUID_PATTERN } from "./ids.ts";
import { BROWSER_STEPS } from "./steps.ts";

// What a browser sends to POST /embed-api/{widget}/events. Members that are not named here are ignored.

export const COLLECT_EVENTS_MAX = 20;
export const COLLECT_BODY_MAX_BYTES = 16 * 1024;
/** Of any one text. Longer than the addresses that browsers and servers handle, and far below the whole body's limit. */
export const COLLECT_TEXT_MAX = 4096;

const text = Type.Optional(Type.String({ maxLength: COLLECT_TEXT_MAX }));

/** The loader's raw fields. Of these an anonymous event keeps the class they lead to, and nothing else. */
const CollectAttribution = Type.Object({
  ...(Object.fromEntries(Object.keys(RawAttribution.properties).map((name) => [name, text])) as {
    // Every raw field but `touches` is a text; the schema is made from the contract's own list of names.
    [Name in Exclude<keyof Contract, "touches">]: typeof text;
  }),
  touches: Type.Optional(Type.Integer({ minimum: 0 })),
});

export const CollectRequest = Type.Object({
  visitId: Type.String({ pattern: UUID_PATTERN }),
  page: text,
  attribution: Type.Optional(CollectAttribution),
  events: Type.Array(Type.Object({ step: Type.Union(BROWSER_STEPS.map((step) => Type.Literal(step))) }), {
    minItems: 1,
    maxItems: COLLECT_EVENTS_MAX,
  }),
});
export type CollectRequest = Static<typeof CollectRequest>;
