import { join } from "node:path";

/**
 * The environment for a program that a test starts, without our own settings. The cache saves each program from compiling the
 * whole service again; the options come from scripts/test-programs.ts.
 */
export const CLEAN_ENVIRONMENT = {
  PATH: process.env["PATH"],
  NODE_COMPILE_CACHE:
    process.env["NODE_COMPILE_CACHE"] ?? join(import.meta.dirname, "../../../node_modules/.cache/bookflow"),
  NODE_OPTIONS: process.env["TEST_NODE_OPTIONS"] ?? "",
};
