// What other slices use of api-keys.

export { type Caller, callerOf, requireScope } from "./bearer-auth.ts";
export { describeKey, makeKey } from "./make-key.ts";
export { findKeyOwner } from "./queries.ts";
export type { ReadRoutes } from "./read-table.ts";
export { makeApiKey } from "./token.ts";
