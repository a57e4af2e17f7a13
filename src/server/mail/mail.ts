import { Socket } from "node:net";
import type { SendMailOptions, Transporter } from "nodemailer";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Config } from "../config.ts";
import { within } from "../lib/concurrency/pause.ts";
import { describeError } from "../lib/log/describe-error.ts";
import type { Log } from "../lib/log/log.ts";
import type { Metrics } from "../lib/log/metrics.ts";
import { type Letter, renderLetter, renderPlainLetter } from "./render-letter.ts";

/** What an email is about, for the log. */
type MailPurpose = {
  mail: "reset" | "sign-up" | "invitation" | "endpoint notice" | "report";
  organizationId?: OrganizationId;
  endpointId?: EndpointId;
};

export type LinkMail = Letter & { to: string; purpose: MailPurpose };

/** An email with an image, shown in its HTML as `cid:…`. */
type PictureMail = {
  to: string;
  purpose: MailPurpose;
  subject: string;
  text: string;
  html: string;
  picture: { cid: string; content: Buffer };
  headers: Readonly<Record<string, string>>;
};

/**
 * `refused`: the mail server will never accept it. `failed`: it was not accepted, and may be sent again. `unknown`: the
 * connection broke, and the mail server may have accepted it.
 */
type MailOutcome = "sent" | "refused" | "failed" | "unknown";

export type Mail = {
  /** False without a mail server: links are then written to the log. */
  readonly isOn: boolean;
  /** Whether the mail server accepted the email. Never tell strangers, because it reveals who has an account. */
  send(mail: LinkMail): Promise<boolean>;
  /** Says whether the email may be sent again without anybody getting it twice. */
  sendOnce(mail: PictureMail): Promise<MailOutcome>;
  /** Signs in to the mail server without sending anything. Returns an error code, or null. */
  check(): Promise<string | null>;
};

const TIMEOUT_MS = 10_000;
/** Limit for the whole conversation, because a person is waiting for the response. */
const LIMIT_MS = 15_000;

/** A failure to send is logged and counted, never thrown. */
export function createMail(
  deps: {
    config: Pick<Config, "smtpUrl" | "mailFrom" | "baseUrl">;
    log: Log;
    metrics: Pick<Metrics, "mails">;
  },
  { limitMs = LIMIT_MS }: { limitMs?: number } = {},
): Mail {
  const { config, log } = deps;
  const { mails } = deps.metrics;
  if (config.smtpUrl === null) return createMailOff(deps);
  const connection = { url: config.smtpUrl, limitMs };
  // Initialise the counters to 0, so that an alert notices the first failure.
  for (const outcome of ["sent", "failed"] as const) mails.inc({ outcome }, 0);
  const post = async (purpose: MailPurpose, mail: SendMailOptions): Promise<MailOutcome> => {
    try {
      await converse(connection, (transport) => transport.sendMail({ from: config.mailFrom, ...mail }));
      mails.inc({ outcome: "sent" });
      log.info("mail.sent", purpose);
      return "sent";
    } catch (error) {
      mails.inc({ outcome: "failed" });
      log.error("mail.failed", { ...purpose, outcome: toCode(error) });
      return toOutcome(error);
    }
  };
  const check = async () => {
    try {
      await converse(connection, (transport) => transport.verify());
      return null;
    } catch (error) {
      return toCode(error);
    }
  };
  return {
    isOn: true,
    check,
    async send({ to, purpose, ...letter }) {
      const text = renderPlainLetter(letter, config.baseUrl);
      const html = renderLetter(letter, config.baseUrl).toString();
      return (await post(purpose, { to, subject: letter.subject, text, html })) === "sent";
    },
    async sendOnce({ picture, purpose, ...mail }) {
      // If no connection was made, nothing was sent. If it broke later, nobody can tell.
      const fault = await check();
      if (fault === null) return await post(purpose, { ...mail, attachments: [{ filename: "chart.png", ...picture }] });
      mails.inc({ outcome: "failed" });
      log.error("mail.failed", { ...purpose, outcome: fault });
      return "failed";
    },
  };
}

/** Closes the connection if the conversation fails or takes too long. */
async function converse(
  { url, limitMs }: { url: string; limitMs: number },
  run: (transport: Transporter) => Promise<unknown>,
): Promise<void> {
  const { createTransport } = await import("nodemailer");
  const limits = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  // Our own socket, because nodemailer can't be told to close a connection.
  const socket = new Socket();
  try {
    await within(limitMs, run(createTransport({ url, ...limits, socket })));
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function createMailOff({ log, metrics: { mails } }: { log: Log; metrics: Pick<Metrics, "mails"> }): Mail {
  return {
    isOn: false,
    async send(mail) {
      mails.inc({ outcome: "not_sent" });
      log.warn("mail.not_sent", { ...mail.purpose, link: withoutAddress(mail.link) });
      return false;
    },
    async sendOnce() {
      mails.inc({ outcome: "not_sent" });
      return "failed";
    },
    check: async () => null,
  };
}

/** The page shows an address from its link, and works without one. */
function withoutAddress(link: string): string {
  const url = new URL(link);
  url.searchParams.delete("email");
  return url.href;
}

/** The commands that offer an email. Before them, the mail server can only refuse us. */
const OFFERS: readonly (string | undefined)[] = ["MAIL FROM", "RCPT TO", "DATA"];

/**
 * Replies of 500 and more to an email are final. Without a reply the outcome is unknown, because nodemailer reports a connection
 * that breaks after DATA like one that was never made; only a failed login is certain to come first.
 */
function toOutcome(error: unknown): MailOutcome {
  const { code, command, responseCode } = error as { code?: string; command?: string; responseCode?: number };
  if (code === "EAUTH") return "failed";
  if (responseCode === undefined) return "unknown";
  return responseCode >= 500 && OFFERS.includes(command) ? "refused" : "failed";
}

/** Mail servers repeat addresses in their messages, so only the code is logged. */
function toCode(error: unknown): string {
  return describeError(error).code ?? "unknown";
}
