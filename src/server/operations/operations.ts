// What other slices use of operations.

export { examine, type Finding } from "./doctor.ts";
export { sweepExpired } from "./retention.ts";
