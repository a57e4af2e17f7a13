import type { CardEvent } from "#contract/webhooks/webhook-event.ts";
import { type EscapeCharacter, textWriter, toCardFields } from "./card-fields.ts";

// The body of a Teams "Workflows" webhook: a message with one Adaptive Card. Version 1.2, because the workflow's own
// "post card" step and phones show nothing newer reliably, and elements of 1.0 only, because TextRun (which would need no
// escaping) is refused by some webhooks (microsoft/AdaptiveCards#8804).
//
// The parts of a card are far below Teams' limit of 28 KB: about 1,800 characters of text, 3,000 of link and a frame of
// a kilobyte, so the limit holds even if every character of text were re-encoded as \uXXXX.

export function toTeamsCard(event: CardEvent, isTest: boolean): Buffer {
  const card = toCardFields(event, write, isTest);
  const actions =
    card.manageUrl === null ? [] : [{ type: "Action.OpenUrl", title: "Manage booking", url: card.manageUrl }];
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.2",
    msteams: { width: "Full" },
    body: [
      { type: "TextBlock", size: "Medium", weight: "Bolder", wrap: true, text: card.title },
      { type: "FactSet", facts: card.facts.map((fact) => ({ title: fact.label, value: fact.value })) },
      { type: "TextBlock", isSubtle: true, size: "Small", wrap: true, text: card.footer },
    ],
    actions,
  };
  const message = {
    type: "message",
    attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content }],
  };
  return Buffer.from(JSON.stringify(message));
}

/**
 * TextBlock and Fact support a subset of Markdown: emphasis, lists and links. A backslash escapes a character. An underscore
 * inside a word is left alone: it has no meaning there, and email addresses and campaigns are full of them.
 */
const escapeForTeams: EscapeCharacter = (characters, index) => {
  const character = characters[index] ?? "";
  if (ALWAYS_ESCAPED.has(character)) return `\\${character}`;
  const [before, after] = [characters[index - 1] ?? "", characters[index + 1] ?? ""];
  if (character === "_") return isWordCharacter(before) && isWordCharacter(after) ? "_" : "\\_";
  return startsList(characters, index) ? `\\${character}` : character;
};

/** Braces because {{DATE(…)}} is a function of Adaptive Cards. */
const ALWAYS_ESCAPED: ReadonlySet<string> = new Set("\\[]*`<>{}");

/** `- item`, `+ item`, `1. item` or `1) item` at the start of a text. */
function startsList(characters: readonly string[], index: number): boolean {
  const character = characters[index];
  if (character === "-" || character === "+") return index === 0;
  if (character !== "." && character !== ")") return false;
  const isNumber = index > 0 && characters.slice(0, index).every((one) => one >= "0" && one <= "9");
  return isNumber && (characters[index + 1] ?? " ") === " ";
}

function isWordCharacter(character: string): boolean {
  return /^[\p{L}\p{N}]$/u.test(character);
}

const write = textWriter(escapeForTeams);
