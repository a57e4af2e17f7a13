/** For tests: a client of the embedded database in its own process. It speaks JSON lines and leaves at the end of its input. */
import { openEmbeddedDatabase } from "../../../../src/server/db/embedded/open.ts";

const [dataDir = "", sharedFolder = ""] = process.argv.slice(2);

function say(word: object): void {
  process.stdout.write(`${JSON.stringify(word)}\n`);
}

try {
  const notice = (sentence: string) => say({ kind: "notice", sentence });
  const database = await openEmbeddedDatabase({ dataDir, sharedFolder, notice });
  say({ kind: "ready", url: database.url });
  process.stdin.on("end", async () => {
    await database.release();
    say({ kind: "released" });
  });
  process.stdin.resume();
} catch (error) {
  say({ kind: "failed", name: (error as Error).name, sentence: (error as Error).message });
}
