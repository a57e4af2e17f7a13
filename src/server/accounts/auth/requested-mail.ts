import type { Db } from "../../db/connections/pool.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { LinkMail, Mail } from "../../mail/mail.ts";
import { giveMailTurnBack, type RequestedMailKind, takeMailTurn } from "./verification-queries.ts";

/** For mail that anyone can request for any address: in some minutes, an address gets one of each kind. */
export async function sendRequestedMail(
  { db, clock, mail }: { db: Db; clock: Clock; mail: Mail },
  { kind, to }: { kind: RequestedMailKind; to: string },
  write: () => Promise<Omit<LinkMail, "to" | "purpose">>,
): Promise<void> {
  const turn = { kind, email: to, now: clock.now() };
  if (!(await takeMailTurn(db, turn))) return;
  const isSent = await mail.send({ to, purpose: { mail: kind }, ...(await write()) });
  if (mail.isOn && !isSent) await giveMailTurnBack(db, turn);
}
