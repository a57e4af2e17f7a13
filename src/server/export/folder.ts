import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { getSystemErrorMessage } from "node:util";
import type { Place } from "./target.ts";

/** Files get their name once they are complete and on the disk. */
export function openFolder(path: string): Place {
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
