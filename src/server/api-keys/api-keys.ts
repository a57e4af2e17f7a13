// What other slices use of api-keys.

export { type ApiKeyRow, listApiKeys } from "./app-queries.ts";
export { type Caller, callerOf, requireScope } from "./bearer-auth.ts";
export { describeKey, makeKey, parseExpiry } from "./make-key.ts";
export { checkNetworks } from "./networks.ts";
export { revokeApiKey } from "./queries.ts";
export { checkScopes } from "./scopes.ts";
export { makeApiKey } from "./token.ts";
