import { copyFileSync, openSync, statSync, truncateSync } from "node:fs";

/** Opened for appending; not readable by others. */
export function openLog(path: string, limitBytes: number): number {
  const handle = openSync(path, "a", 0o600);
  boundLog(path, limitBytes);
  return handle;
}

/** Once over the limit, the log moves to `<path>.1` and starts again. Truncating is safe: every writer appends. */
export function boundLog(path: string, limitBytes: number): void {
  if (readLogSize(path) <= limitBytes) return;
  try {
    copyFileSync(path, `${path}.1`);
  } catch {
    // Probably a full disk: then the space matters more than the old lines.
  }
  truncateSync(path);
}

/** An operator may have removed the file; that is no reason to stop. */
export function readLogSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
