import { parseExportPlace } from "../lib/text/export-place.ts";
import { openBucket } from "./bucket.ts";
import { ExportError } from "./export-error.ts";
import { openFolder } from "./folder.ts";

export type Target = {
  /** The names of the files in a folder, which may not exist yet. */
  list(folder: string): Promise<ReadonlySet<string>>;
  /** The file appears whole or not at all. Without any text, no file is made, and it returns false. */
  write(path: string, texts: AsyncIterable<string>): Promise<boolean>;
};

/** One kind of target. What `list` and `write` throw becomes one sentence, unless it comes from the texts. */
export type Place = Target & { name: string; describe(error: Error): string };

/** `to` is a folder or `s3://BUCKET/PREFIX`. */
export async function openTarget(to: string): Promise<Target> {
  const parsed = parseExportPlace(to);
  if (parsed === null) throw new RangeError(`Not a folder or bucket: ${to}`);
  const place = parsed.kind === "folder" ? openFolder(parsed.path) : await openBucket(parsed);
  const explain = (error: unknown) => {
    const [reason] = place.describe(error as Error).split("\n");
    return new ExportError(`Can't write to ${place.name}: ${reason}`, { cause: error });
  };
  return {
    async list(folder) {
      try {
        return await place.list(folder);
      } catch (error) {
        throw explain(error);
      }
    },
    async write(path, texts) {
      let unreadable: unknown;
      async function* watch() {
        try {
          yield* texts;
        } catch (error) {
          unreadable = error;
          throw error;
        }
      }
      try {
        return await place.write(path, watch());
      } catch (error) {
        throw error === unreadable ? error : explain(error);
      }
    },
  };
}
