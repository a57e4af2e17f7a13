import type { Config } from "../config.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import { within } from "../lib/pause.ts";

/** A mail with one link. */
type LinkMail = { to: string; subject: string; text: string; link: string };

export type Mail = {
  /** False without a mail server: links are then written to the log. */
  readonly isOn: boolean;
  /** Whether the mail server accepted the mail. Never tell strangers, because it reveals who has an account. */
  send(mail: LinkMail): Promise<boolean>;
  /** Signs in to the mail server without sending anything. Returns an error code, or null. */
  check(): Promise<string | null>;
};

const TIMEOUT_MS = 10_000;
/** Limit for the whole conversation, because a person is waiting for the answer. */
const SEND_LIMIT_MS = 15_000;

/** A failure to send is logged and counted, never thrown. */
export function createMail(deps: {
  config: Pick<Config, "smtpUrl" | "mailFrom">;
  log: Log;
  metrics: Pick<Metrics, "mails">;
}): Mail {
  const { config, log } = deps;
  const { mails } = deps.metrics;
  if (config.smtpUrl === null)
    return {
      isOn: false,
      async send(mail) {
        mails.inc({ outcome: "not_sent" });
        log.warn("mail.not_sent", { sentence: `${mail.subject}: SMTP_URL is not set.`, link: mail.link });
        return false;
      },
      check: async () => null,
    };
  const { smtpUrl: url } = config;
  const limits = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const connect = async () => (await import("nodemailer")).createTransport({ url, ...limits });
  // Initialise the counters to 0, so that an alert notices the first failure.
  for (const outcome of ["sent", "failed"] as const) mails.inc({ outcome }, 0);
  return {
    isOn: true,
    async check() {
      const transport = await connect();
      try {
        await transport.verify();
        return null;
      } catch (error) {
        return toCode(error);
      } finally {
        transport.close();
      }
    },
    async send({ to, subject, text, link }) {
      try {
        const transport = await connect();
        const mail = { from: config.mailFrom, to, subject, text: `${text}\n\n${link}\n` };
        await within(SEND_LIMIT_MS, transport.sendMail(mail));
        mails.inc({ outcome: "sent" });
        log.info("mail.sent");
        return true;
      } catch (error) {
        mails.inc({ outcome: "failed" });
        log.error("mail.failed", { outcome: toCode(error) });
        return false;
      }
    },
  };
}

/** Mail servers repeat addresses in their messages, so only the code is logged. */
function toCode(error: unknown): string {
  return String((error as { code?: unknown }).code ?? "unknown");
}
