import type { CardEvent } from "#contract/webhooks/webhook-event.ts";
import { type EscapeCharacter, textWriter, toCardFields } from "./card-fields.ts";

// The body of a Slack incoming webhook, in Block Kit. Slack can escape `&`, `<` and `>` (and so mentions and links), but
// has no escape for `*bold*` or `_italic_`. Every text that is not ours is therefore in a plain_text object, where they
// mean nothing; only our own labels are mrkdwn. Labels and values alternate, which Slack lays out as two columns.

export function toSlackCard(event: CardEvent, isTest: boolean): Buffer {
  const card = toCardFields(event, write, isTest);
  const fields = card.facts.flatMap((fact) => [
    { type: "mrkdwn", verbatim: true, text: `*${fact.label}*` },
    plainText(fact.value),
  ]);
  const sections = Array.from({ length: Math.ceil(fields.length / FIELDS_PER_SECTION) }, (_, i) => ({
    type: "section",
    fields: fields.slice(i * FIELDS_PER_SECTION, (i + 1) * FIELDS_PER_SECTION),
  }));
  const link = card.manageUrl === null ? null : toLink(card.manageUrl, "Manage booking");
  const links = link === null ? [] : [{ type: "section", text: link }];
  const message = {
    // For notifications and for programs that cannot show blocks.
    text: card.summary,
    mrkdwn: false,
    blocks: [
      { type: "header", text: plainText(card.title) },
      ...sections,
      ...links,
      { type: "context", elements: [plainText(card.footer)] },
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
  return Buffer.from(JSON.stringify(message));
}

/** Slack allows ten; six are three lines of label and value. */
const FIELDS_PER_SECTION = 6;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

const escapeForSlack: EscapeCharacter = (characters, index) => {
  const character = characters[index] ?? "";
  return ENTITIES[character] ?? character;
};

const write = textWriter(escapeForSlack);

/** A link and not a button: clicking a button shows a warning unless the app has interactivity turned on. */
function toLink(url: string, label: string): { type: "mrkdwn"; verbatim: true; text: string } | null {
  const escaped = url.replace(/[&<>]/g, (character) => ENTITIES[character] ?? character).replaceAll("|", "%7C");
  const text = `<${escaped}|${label}>`;
  return text.length > SECTION_LENGTH_MAX ? null : { type: "mrkdwn", verbatim: true, text };
}

/** Slack's limit of a section's text. */
const SECTION_LENGTH_MAX = 3_000;

/** `emoji: false` leaves :smile: as the visitor typed it. */
function plainText(text: string): { type: "plain_text"; text: string; emoji: false } {
  return { type: "plain_text", text, emoji: false };
}
