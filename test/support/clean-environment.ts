import { join } from "node:path";

/**
 * The environment of a program that a test starts. It has none of our own settings. Without the cache, each program would
 * compile the whole service again.
 */
export const CLEAN_ENVIRONMENT = {
  PATH: process.env["PATH"],
  NODE_COMPILE_CACHE:
    process.env["NODE_COMPILE_CACHE"] ?? join(import.meta.dirname, "../../node_modules/.cache/bookflow"),
};
