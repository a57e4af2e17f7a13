// What other slices use of demo.

export { DEMO_ID, DEMO_NAME } from "./clinic.ts";
export { readCredentials } from "./credentials.ts";
export { clearDemo, loadDemo } from "./load.ts";
export { DEMO_DAYS } from "./traffic.ts";
