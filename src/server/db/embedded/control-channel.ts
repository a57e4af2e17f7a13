import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { errorCode } from "./file-fault.ts";
import { dataFolderPaths } from "./folders.ts";

/**
 * The protocol between clients and the supervisor: JSON lines over a loopback connection, which a client keeps open
 * while it uses the database. The file with the port and the two secrets is readable only by its owner. The client
 * sends `ask` and trusts only a peer that sends `answer`, so a stranger on the port of a dead supervisor is not
 * trusted.
 */
type ControlFile = { port: number; ask: string; answer: string };

/** Written by the supervisor to its standard output, for the client that started it. */
export type FirstMessage = { kind: "listening" } | { kind: "busy" } | { kind: "failed"; sentence: string };

/** Sent by the supervisor to each client. */
export type ControlMessage =
  | { kind: "hello"; answer: string }
  | { kind: "notice"; sentence: string }
  | { kind: "ready"; url: string }
  | { kind: "failed"; sentence: string };

const LINE_LIMIT = 65_536;

export function makeControlSecret(): string {
  return randomBytes(32).toString("hex");
}

export function writeControlFile(dataDir: string, control: ControlFile): void {
  const { control: path } = dataFolderPaths(dataDir);
  writeFileSync(`${path}.new`, JSON.stringify(control), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Null if the file is missing or incomplete. */
export function readControlFile(dataDir: string): ControlFile | null {
  try {
    const control = JSON.parse(readFileSync(dataFolderPaths(dataDir).control, "utf8")) as Partial<ControlFile> | null;
    const { port, ask, answer } = control ?? {};
    return typeof port === "number" && typeof ask === "string" && typeof answer === "string"
      ? { port, ask, answer }
      : null;
  } catch (error) {
    if (error instanceof SyntaxError || errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

export function sendLine(socket: Socket, value: object): void {
  socket.write(`${JSON.stringify(value)}\n`);
}

/** Calls back with each line's value, and disconnects a peer that sends anything but JSON lines. */
export function receiveLines(socket: Socket, receive: (value: unknown) => void): void {
  let rest = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    try {
      for (const line of lines) receive(JSON.parse(line));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      socket.destroy();
    }
    if (rest.length > LINE_LIMIT) socket.destroy();
  });
}
