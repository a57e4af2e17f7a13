import { readEnvironment } from "../config.ts";
import { runCommandLine } from "./run.ts";

// The operator's command line, `npm run -s bookflow -- <command>`. Its commands are listed in run.ts.

const { stdin, stdout, stderr } = process;
process.exitCode = await runCommandLine(process.argv.slice(2), { environment: readEnvironment, stdin, stdout, stderr });
