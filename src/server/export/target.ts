import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { getSystemErrorMessage } from "node:util";
import { parseExportTarget } from "../lib/text/export-target.ts";
import { openBucket } from "./bucket.ts";

export type Target = {
  /** The names of the files in a folder, which may not exist yet. */
  list(folder: string): Promise<ReadonlySet<string>>;
  /** The file appears whole or not at all. Without any text, no file is made, and it returns false. */
  write(path: string, texts: AsyncIterable<string>): Promise<boolean>;
};

/** One kind of target. What `list` and `write` throw becomes one sentence, unless it comes from the texts. */
export type NamedTarget = Target & { name: string; describe(error: Error): string };

/** `to` is a folder or `s3://BUCKET/PREFIX`. */
export async function openTarget(to: string): Promise<Target> {
  const parsed = parseExportTarget(to);
  if (parsed === null) throw new RangeError(`Not a folder or bucket: ${to}`);
  const target = parsed.kind === "folder" ? openFolder(parsed.path) : await openBucket(parsed);
  const explain = (error: unknown) => {
    const [reason] = target.describe(error as Error).split("\n");
    return new ExportError(`Can't write to ${target.name}: ${reason}`, { cause: error });
  };
  return {
    async list(folder) {
      try {
        return await target.list(folder);
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
        return await target.write(path, watch());
      } catch (error) {
        throw error === unreadable ? error : explain(error);
      }
    },
  };
}

/** The target that files are written to can't be used. The message is for the operator. */
export class ExportError extends Error {
  override name = "ExportError";
}

/** Files get their name once they are complete and on the disk. */
function openFolder(path: string): NamedTarget {
  const root = resolve(path);
  return {
    name: root,
    list: async (folder) => new Set(await listFiles(join(root, folder))),
    write: async (name, texts) => await writeWhole(join(root, name), texts),
    describe: ({ errno, code, message }: NodeJS.ErrnoException) =>
      errno === undefined ? message : `${getSystemErrorMessage(errno)} (${code}).`,
  };
}

async function listFiles(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

async function writeWhole(path: string, texts: AsyncIterable<string>): Promise<boolean> {
  const folder = dirname(path);
  // Always the same name, so that a run that continues after a crash also removes what was left behind.
  const partial = join(folder, `.${basename(path)}.partial`);
  await rm(partial, { force: true });
  let file: Awaited<ReturnType<typeof open>> | undefined;
  try {
    for await (const text of texts) {
      if (!file) {
        await mkdir(folder, { recursive: true });
        file = await open(partial, "wx");
      }
      await file.writeFile(text);
    }
    await file?.sync();
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    await file?.close();
  }
  if (file) await rename(partial, path);
  return file !== undefined;
}
