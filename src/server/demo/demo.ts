// What other slices use of demo.

export { clearDemo } from "./clear.ts";
export { DEMO_ID, DEMO_NAME } from "./clinic.ts";
export { readCredentials } from "./credentials.ts";
export { loadDemo } from "./load.ts";
export { DEMO_DAYS } from "./traffic.ts";
