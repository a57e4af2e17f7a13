import { type Html, html } from "../http/pages/html.ts";

/** What an email with one link says, and what the link is for ("Reset your password"). */
export type Letter = { subject: string; text: string; action: string; link: string };

/** For mail apps that show no HTML. `server`: the address that sent it. */
export function renderPlainLetter({ text, action, link }: Letter, server: string): string {
  return `${text}\n\n${action}: ${link}\n\nBookflow at ${server}\n`;
}

const QUIET = "color:#5b6472;font-size:13px;line-height:20px";

/** Mail apps know neither stylesheets nor modern layout, so styles are inline and boxes are tables. No images, and nothing is loaded. */
export function renderLetter({ subject, text, action, link }: Letter, server: string): Html {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${subject}</title></head>
<body style="margin:0;background-color:#f3f4f7;font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background-color:#f3f4f7"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="520" cellpadding="0" cellspacing="0" style="width:100%;max-width:520px;background-color:#ffffff;border-radius:8px;color:#1b2130;text-align:left">
<tr><td style="padding:28px 28px 0"><h1 style="margin:0;font-size:20px;line-height:28px">${subject}</h1></td></tr>
<tr><td style="padding:12px 28px 0;font-size:15px;line-height:24px">${text}</td></tr>
<tr><td style="padding:24px 28px 0"><table role="presentation" cellpadding="0" cellspacing="0"><tr><td style="background-color:#0b5c6f;border-radius:6px">
<a href="${link}" style="display:inline-block;padding:12px 24px;color:#ffffff;font-size:15px;font-weight:600;text-decoration:none">${action}</a>
</td></tr></table></td></tr>
<tr><td style="padding:24px 28px 28px;${QUIET}">If the button doesn’t work, open this address:<br><a href="${link}" style="color:#0b5c6f;word-break:break-all">${link}</a></td></tr>
</table>
<p style="margin:16px 0 0;${QUIET}">Bookflow at ${server}</p>
</td></tr></table>
</body>
</html>
`;
}
