/** Something the operator can mend: printed as its one sentence, without a stack, and the process ends with 1. */
export class StartError extends Error {
  override name = "StartError";
}
