import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { StartError } from "../../lib/start-error.ts";
import { type ControlMessage, readControlFile, receiveLines, sendLine } from "./control-channel.ts";
import { toStartError } from "./file-fault.ts";
import { dataFolderPaths, makeDataFolder, SHARED_FOLDER } from "./folders.ts";
import { launchSupervisor } from "./launch-supervisor.ts";
import type { SupervisorOptions } from "./supervisor.ts";

type EmbeddedDatabase = {
  /** For node-postgres. It stays valid across restarts of PostgreSQL. */
  url: string;
  /** The last client to leave waits here until PostgreSQL has stopped. A process that just ends is noticed as well. */
  release(): Promise<void>;
};

type EmbeddedOptions = {
  dataDir: string;
  /** Called while waiting, with messages for the person at the terminal. */
  notice: (sentence: string) => void;
  /** Where root keeps what cannot be in the data folder; tests use their own folder. */
  sharedFolder?: string;
};

const HELLO_LIMIT_MS = 3_000;
const SILENCE_LIMIT_MS = 90_000;
/** How long the data folder may be held by a supervisor that cannot be reached. */
const UNREACHABLE_LIMIT_MS = 15_000;
const RETRY_MS = 50;
const REATTACH_PAUSE_MS = 1_000;
const RELEASE_LIMIT_MS = 10_000;

/**
 * Opens the PostgreSQL of a data folder: starts it, or joins the processes that already use it.
 * Throws StartError, whose message is for the operator.
 */
export async function openEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const dataDir = makeDataFolder(options.dataDir);
  const target = { dataDir, sharedFolder: options.sharedFolder ?? SHARED_FOLDER };
  const attachment = new Attachment(target, options.notice);
  try {
    return { url: await attachment.open(), release: () => attachment.release() };
  } catch (error) {
    throw toStartError(error, dataDir);
  }
}

/** A client's connection to the supervisor, opened again if the supervisor dies. */
class Attachment {
  readonly #target: SupervisorOptions;
  readonly #notice: (sentence: string) => void;
  #socket: Socket | null = null;
  #isReleased = false;

  constructor(target: SupervisorOptions, notice: (sentence: string) => void) {
    this.#target = target;
    this.#notice = notice;
  }

  async open(): Promise<string> {
    const { socket, url } = await attach(this.#target, this.#notice);
    if (this.#isReleased) socket.destroy();
    this.#socket = socket;
    socket.once("close", () => void this.#reattach(url));
    // A process that forgets to release must still be able to exit.
    socket.unref();
    return url;
  }

  async #reattach(url: string): Promise<void> {
    let lastSentence = "";
    while (!this.#isReleased) {
      try {
        if ((await this.open()) === url) return;
        // Only with a port, if a stranger takes it at that moment.
        this.#notice("The database had to move to another port; restart Bookflow.");
        return;
      } catch (error) {
        const sentence = `The database is unavailable: ${toStartError(error, this.#target.dataDir).message}`;
        if (sentence !== lastSentence) this.#notice(sentence);
        lastSentence = sentence;
        await sleep(REATTACH_PAUSE_MS, undefined, { ref: false });
      }
    }
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    const socket = this.#socket;
    if (socket === null || socket.closed) return;
    socket.ref();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, RELEASE_LIMIT_MS);
      socket.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      socket.end();
    });
    socket.destroy();
  }
}

type Attached = { socket: Socket; url: string };

async function attach(target: SupervisorOptions, notice: (sentence: string) => void): Promise<Attached> {
  let word: "listening" | "busy" = "busy";
  for (const giveUpAt = Date.now() + UNREACHABLE_LIMIT_MS; Date.now() < giveUpAt; ) {
    const attached = await callSupervisor(target.dataDir, notice);
    if (attached !== null) return attached;
    word = await launchSupervisor(target);
    if (word === "busy") await sleep(RETRY_MS);
  }
  throw new StartError(
    word === "busy"
      ? `The data folder ${target.dataDir} is in use by another Bookflow process that can't be reached from here, perhaps in another container. Stop that process first.`
      : `The database's supervisor ended before the database was ready. See ${dataFolderPaths(target.dataDir).supervisorLog}.`,
  );
}

/** Null if no supervisor answers, or if it exits before the database is ready; throws its message if it failed. */
function callSupervisor(dataDir: string, notice: (sentence: string) => void): Promise<Attached | null> {
  const control = readControlFile(dataDir);
  if (control === null) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: control.port });
    let isKnown = false;
    socket.setTimeout(HELLO_LIMIT_MS, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve(null));
    sendLine(socket, { ask: control.ask });
    receiveLines(socket, (value) => {
      // Trusted after the correct answer: the supervisor is our own program.
      const message = value as ControlMessage;
      if (!isKnown && (message.kind !== "hello" || message.answer !== control.answer)) return socket.destroy();
      switch (message.kind) {
        case "hello":
          isKnown = true;
          socket.setTimeout(SILENCE_LIMIT_MS);
          return;
        case "notice":
          return notice(message.sentence);
        case "failed":
          reject(new StartError(message.sentence));
          return socket.destroy();
        case "ready":
          socket.setTimeout(0);
          return resolve({ socket, url: message.url });
        default:
          return message satisfies never;
      }
    });
  });
}
