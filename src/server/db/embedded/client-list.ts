import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { type ControlMessage, makeControlSecret, receiveLines, sendLine } from "./control-channel.ts";

const INTRODUCTION_LIMIT_MS = 5_000;

/**
 * The supervisor's side of the control connections: who uses the database. A client is listed from its introduction
 * until its connection ends, for whatever reason.
 */
export class ClientList {
  readonly ask = makeControlSecret();
  readonly answer = makeControlSecret();
  readonly #server: Server;
  /** Each client, and whether it knows that the database is ready. */
  readonly #clients = new Map<Socket, { isServed: boolean }>();
  /** Clients that left properly and wait until the database has stopped. */
  readonly #leavers = new Set<Socket>();
  readonly #watchers = new Set<() => void>();
  #url: string | null = null;

  constructor() {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#introduce(socket));
  }

  async listen(): Promise<number> {
    this.#server.listen({ host: "127.0.0.1", port: 0 });
    await once(this.#server, "listening");
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The control port has no number.");
    return address.port;
  }

  get isEmpty(): boolean {
    return this.#clients.size === 0;
  }

  /** Resolves when the list becomes empty, or occupied, or when the time is up. */
  waitUntil(state: "empty" | "occupied", limitMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.#watchers.delete(check);
        resolve();
      };
      const check = () => {
        if (this.isEmpty === (state === "empty")) finish();
      };
      const timer = limitMs === undefined ? undefined : setTimeout(finish, limitMs);
      this.#watchers.add(check);
      check();
    });
  }

  tellReady(url: string): void {
    this.#url = url;
    for (const [socket, client] of this.#clients) {
      if (!client.isServed) sendLine(socket, { kind: "ready", url } satisfies ControlMessage);
      client.isServed = true;
    }
  }

  /** Clients that arrive from now on have to wait. */
  holdBack(): void {
    this.#url = null;
  }

  tellWaiting(sentence: string): void {
    for (const [socket, client] of this.#clients) {
      if (!client.isServed) sendLine(socket, { kind: "notice", sentence } satisfies ControlMessage);
    }
  }

  /**
   * Waiting clients get the reason and are disconnected. Clients that were served before stay and will be served again.
   */
  failWaiting(sentence: string): void {
    for (const [socket, client] of this.#clients) {
      if (client.isServed) continue;
      sendLine(socket, { kind: "failed", sentence } satisfies ControlMessage);
      socket.end();
      this.#remove(socket);
    }
  }

  dismissLeavers(): void {
    for (const socket of this.#leavers) socket.end();
    this.#leavers.clear();
  }

  close(): void {
    this.#server.close();
  }

  #introduce(socket: Socket): void {
    const deadline = setTimeout(() => socket.destroy(), INTRODUCTION_LIMIT_MS);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      clearTimeout(deadline);
      this.#leavers.delete(socket);
      this.#remove(socket);
    });
    socket.on("end", () => this.#leave(socket));
    receiveLines(socket, (value) => {
      if (this.#clients.has(socket)) return;
      if (!isSame(value, this.ask)) {
        socket.destroy();
        return;
      }
      clearTimeout(deadline);
      this.#clients.set(socket, { isServed: this.#url !== null });
      sendLine(socket, { kind: "hello", answer: this.answer } satisfies ControlMessage);
      if (this.#url !== null) sendLine(socket, { kind: "ready", url: this.#url } satisfies ControlMessage);
      this.#noteChange();
    });
  }

  /** The last client may only leave once the database has stopped, so that nothing keeps running after its process. */
  #leave(socket: Socket): void {
    if (this.#clients.has(socket)) this.#leavers.add(socket);
    else socket.end();
    this.#remove(socket);
    if (!this.isEmpty) this.dismissLeavers();
  }

  #noteChange(): void {
    for (const check of this.#watchers) check();
  }

  #remove(socket: Socket): void {
    if (this.#clients.delete(socket)) this.#noteChange();
  }
}

function isSame(value: unknown, secret: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const shown = typeof value === "object" && value !== null && "ask" in value ? value.ask : null;
  return typeof shown === "string" && timingSafeEqual(digest(shown), digest(secret));
}
