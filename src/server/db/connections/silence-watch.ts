import type { Log } from "../../lib/log/log.ts";
import { DatabaseUnavailable } from "./database-unavailable.ts";

// Decides whether the database is silent. A slow statement is not enough: a caller must be waiting, and for three seconds
// the server must send nothing on any connection of this process, including a new one opened to find out. Then all waiting
// statements fail immediately, and so do new ones, until the server answers again.
//
// | state     | what happens                                     | next                                           |
// |-----------|--------------------------------------------------|------------------------------------------------|
// | answering | any reply                                        | the count of silent ticks starts again         |
// |           | 1 s without a reply while a caller waits         | a new connection is tried; its reply counts    |
// |           | 3 s without a reply while a caller waits         | silent                                         |
// | silent    | a new connection is tried twice a second         | answering, with the first one that is answered |
//
// Time is counted in ticks of our own event loop. A process that is paused or very busy ticks less, so it does not mistake
// its own pause for the server's silence.

export const TICK_MS = 250;
const SUSPICIOUS_TICKS = 4;
const SILENT_TICKS = 12;
const RETRY_TICKS = 2;

type WatchParts = {
  /** Resolves if the server answers on a new connection, and rejects otherwise. */
  readonly probe: () => Promise<void>;
  readonly isSomeoneWaiting: () => boolean;
  readonly onSilent: (reason: DatabaseUnavailable) => void;
  readonly log: Log;
};

export class SilenceWatch {
  readonly #parts: WatchParts;
  #heardSomething = false;
  #ticks = 0;
  #silence: DatabaseUnavailable | null = null;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Why no statement can run now; null while the database answers. */
  get silence(): DatabaseUnavailable | null {
    return this.#silence;
  }

  heard(): void {
    this.#heardSomething = true;
  }

  tick(): void {
    this.#ticks++;
    if (this.#silence !== null) {
      if (this.#ticks % RETRY_TICKS === 0) this.#probe();
      return;
    }
    if (this.#heardSomething || !this.#parts.isSomeoneWaiting()) this.#ticks = 0;
    this.#heardSomething = false;
    if (this.#ticks === SUSPICIOUS_TICKS) this.#probe();
    if (this.#ticks >= SILENT_TICKS) this.#fallSilent();
  }

  #fallSilent(): void {
    this.#silence = new DatabaseUnavailable("The database does not respond");
    this.#parts.log.error("database.silent");
    this.#parts.onSilent(this.#silence);
  }

  #probe(): void {
    this.#parts.probe().then(
      () => {
        this.heard();
        if (this.#silence === null) return;
        this.#silence = null;
        this.#ticks = 0;
        this.#parts.log.info("database.answering");
      },
      // The next tick goes on counting. Once the server is silent, it is probed twice a second.
      () => undefined,
    );
  }
}
