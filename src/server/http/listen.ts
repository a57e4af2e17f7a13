import type { FastifyInstance } from "fastify";
import { StartError } from "../lib/start-error.ts";

const SENTENCES: Readonly<Record<string, (place: string) => string>> = {
  EADDRINUSE: (place) => `Another program listens on ${place} already; stop it, or set PORT to another number.`,
  EACCES: (place) => `Listening on ${place} is not allowed for this user; set PORT to 1024 or above.`,
  EADDRNOTAVAIL: (place) => `This machine has no address to listen on ${place}; check HOST.`,
  ENOTFOUND: (place) => `The name in ${place} leads to no address; check HOST.`,
};

export async function listen(app: FastifyInstance, { host, port }: { host: string; port: number }): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const sentence = SENTENCES[String((error as NodeJS.ErrnoException).code)];
    throw sentence ? new StartError(sentence(`${host}:${port}`), { cause: error }) : error;
  }
}
