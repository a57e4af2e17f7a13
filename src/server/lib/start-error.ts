/** Something the operator can fix: printed as one sentence without a stack, and the process exits with 1. */
export class StartError extends Error {
  override name = "StartError";
}
