import { CLICK_ID_PARAMETERS, toLinkField } from "./attribution-fields.ts";

// Not in attribution-fields.ts, because the loader would contain them.

export const CLICK_ID_FIELDS = CLICK_ID_PARAMETERS.map(toLinkField);
/** They distinguish one click or one browser from another. */
export const IDENTIFIER_FIELDS = [...CLICK_ID_FIELDS, "gaClientId", "fbp", "fbc"] as const;
