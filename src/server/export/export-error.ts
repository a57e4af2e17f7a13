/** The place that files are written to can't be used. The message is for the operator. */
export class ExportError extends Error {
  override name = "ExportError";
}
