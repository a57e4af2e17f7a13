import type { Config } from "../config.ts";
import type { Log } from "../lib/log.ts";

/** One link, and why it was sent. */
export type LinkMail = { to: string; subject: string; text: string; link: string };

export type Mail = {
  /** Whether links are mailed; otherwise they are written to the log. */
  readonly isOn: boolean;
  send(mail: LinkMail): Promise<void>;
  /** Signs in to the mail server and sends nothing; what is wrong as a word, or null. */
  check(): Promise<string | null>;
};

const TIMEOUT_MS = 10_000;

/** Failing to send is logged and goes no further: an answer that told of it would tell who has an account. */
export function createMail({ config, log }: { config: Pick<Config, "smtpUrl" | "mailFrom">; log: Log }): Mail {
  if (config.smtpUrl === null)
    return {
      isOn: false,
      async send(mail) {
        log.warn("mail.not_sent", { sentence: `${mail.subject}: SMTP_URL is not set.`, link: mail.link });
      },
      check: async () => null,
    };
  const { smtpUrl: url } = config;
  const limits = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const connect = async () => (await import("nodemailer")).createTransport({ url, ...limits });
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
        await (await connect()).sendMail({
          from: config.mailFrom,
          to,
          subject,
          text: `${text}\n\n${link}\n`,
        });
        log.info("mail.sent");
      } catch (error) {
        log.error("mail.failed", { outcome: toCode(error) });
      }
    },
  };
}

/** Mail servers repeat addresses in what they say, so only the code is kept. */
function toCode(error: unknown): string {
  return String((error as { code?: unknown }).code ?? "unknown");
}
