import { StartError } from "../../lib/start-error.ts";

/** Explains a failed file operation under `path` to the operator. Unexpected errors keep the system's message. */
export function toStartError(error: unknown, path: string): StartError {
  if (error instanceof StartError) return error;
  return new StartError(toSentence(error, path), { cause: error });
}

function toSentence(error: unknown, path: string): string {
  switch (errorCode(error)) {
    case "ENOSPC":
    case "EDQUOT":
      return diskFullSentence(path);
    case "EROFS":
      return `${path} is on a read-only file system. Set DATA_DIR to a writable folder.`;
    case "EACCES":
    case "EPERM":
      return `No permission to write to ${path}. Start Bookflow as the user who owns it, or set DATA_DIR to another folder.`;
    case "EEXIST":
    case "ENOTDIR":
      return notAFolderSentence(path);
    default:
      return `The embedded database could not start: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

export function diskFullSentence(path: string): string {
  return `There is no space left on the disk that holds ${path}.`;
}

export function notAFolderSentence(path: string): string {
  return `${path} is not a folder. Set DATA_DIR to a folder.`;
}

export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
