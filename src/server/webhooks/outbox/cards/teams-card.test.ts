import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { CardEvent } from "#contract/webhooks/webhook-event.ts";
import { anyBookingEvent, bookingCreated, endpointTest } from "../../../../../test/support/webhooks/card-sample.ts";
import { toTeamsCard } from "./teams-card.ts";

/** Teams refuses more. */
const TEAMS_MESSAGE_BYTES_MAX = 28_000;

type Fact = { title: string; value: string };
type Element = { type: string; text?: string; facts?: Fact[] };
type Card = { body: Element[]; actions: { type: string; title: string; url: string }[] };
type Message = { attachments: { content: Card }[] };

function cardOf(event: CardEvent): Card {
  const message: Message = JSON.parse(toTeamsCard(event, false).toString());
  return message.attachments[0]?.content ?? assert.fail("no card");
}

function factsOf(card: Card): Record<string, string> {
  return Object.fromEntries(
    card.body.flatMap((element) => element.facts ?? []).map((fact) => [fact.title, fact.value]),
  );
}

test("a booking becomes an Adaptive Card in the envelope of a Workflows webhook", () => {
  assert.deepEqual(JSON.parse(toTeamsCard(bookingCreated(), false).toString()), {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.2",
          msteams: { width: "Full" },
          body: [
            {
              type: "TextBlock",
              size: "Medium",
              weight: "Bolder",
              wrap: true,
              text: "New booking: Jane Doe, Intro call, Tue 5 May 2026 14:30",
            },
            {
              type: "FactSet",
              facts: [
                { title: "Service", value: "Intro call" },
                { title: "When", value: "Tue 5 May 2026, 14:30–15:00 (Europe/Berlin)" },
                { title: "With", value: "Alex Kim, Sam Lee" },
                { title: "Source", value: "google / cpc, spring_sale" },
                { title: "Customer", value: "Jane Doe, jane_doe@example.com" },
                { title: "Reference", value: "SVC-AB23CD" },
              ],
            },
            { type: "TextBlock", isSubtle: true, size: "Small", wrap: true, text: "Main widget | Acme Studio" },
          ],
          actions: [
            {
              type: "Action.OpenUrl",
              title: "Manage booking",
              url: "https://book.example.com/manage?id=1&sig=a%2Fb",
            },
          ],
        },
      },
    ],
  });
});

test("Markdown that a visitor typed is shown as typed", () => {
  const table: [typed: string, written: string][] = [
    ["[Click](https://evil.example)", "\\[Click\\](https://evil.example)"],
    ["**bold**", "\\*\\*bold\\*\\*"],
    ["_italic_", "\\_italic\\_"],
    ["snake_case_name", "snake_case_name"],
    ["- item", "\\- item"],
    ["1. item", "1\\. item"],
    ["12) item", "12\\) item"],
    ["1.5 hours", "1.5 hours"],
    ["A - B", "A - B"],
    ["\\[x](y)", "\\\\\\[x\\](y)"],
    ["<at>All</at>", "\\<at\\>All\\</at\\>"],
    ["{{DATE(2026-01-01T00:00:00Z)}}", "\\{\\{DATE(2026-01-01T00:00:00Z)\\}\\}"],
    ["Smith & Sons, Room #2", "Smith & Sons, Room #2"],
  ];
  for (const [typed, written] of table) {
    const event = bookingCreated({ booking: { service: { id: "s1", name: typed } } });
    assert.equal(factsOf(cardOf(event)).Service, written, typed);
  }
});

test("a test event becomes a card without a button", () => {
  const card = cardOf(endpointTest);
  assert.deepEqual(
    [card.body[0]?.text, factsOf(card), card.body.at(-1)?.text, card.actions],
    [
      "Test message: new bookings will appear here",
      { Business: "Acme \\<Studio\\>", Endpoint: "we_1111111111111111" },
      "No booking was made.",
      [],
    ],
  );
});

test("any booking gives a message within Teams' limit, even if it is re-encoded with escapes", () => {
  fc.assert(
    fc.property(anyBookingEvent, (event) => {
      const bytes = toTeamsCard(event, false);
      const text = bytes.toString();
      assert.deepEqual(Buffer.from(JSON.stringify(JSON.parse(text))), bytes);
      const reEncoded = text.replace(/[^ -~]/g, "\\uXXXX");
      assert.ok(
        bytes.length <= TEAMS_MESSAGE_BYTES_MAX && reEncoded.length <= TEAMS_MESSAGE_BYTES_MAX,
        `${bytes.length} bytes`,
      );
    }),
    { numRuns: 300 },
  );
});

test("the longest possible card is within Teams' limit", () => {
  const long = "😀\\".repeat(3_000);
  const event = bookingCreated({
    booking: {
      reference: long,
      service: { id: "s1", name: long },
      staff: [{ id: "p1", name: long }],
      customer: { name: long, email: long, phone: null, notes: null },
      start: long,
      end: long,
      manageUrl: `https://book.example.com/${"a".repeat(2_975)}`,
    },
    attribution: { source: long, medium: long, campaign: long },
    business: long,
    widget: long,
  });
  const bytes = toTeamsCard(event, false);
  const reEncoded = bytes.toString().replace(/[^ -~]/g, "\\uXXXX");
  assert.equal(cardOf(event).actions.length, 1);
  assert.ok(reEncoded.length <= TEAMS_MESSAGE_BYTES_MAX, `${reEncoded.length} bytes`);
});

test("no booking can put a control character or Markdown on a Teams card", () => {
  fc.assert(
    fc.property(anyBookingEvent, (event) => {
      const card = cardOf(event);
      const shown = card.body.flatMap((element) => [element.text, ...(element.facts ?? []).map((fact) => fact.value)]);
      for (const text of shown.filter((one) => one !== undefined)) {
        assert.ok(text.isWellFormed() && text.length > 0);
        assert.doesNotMatch(text, /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        const unescaped = text.replace(/\\[\\[\]*`<>{}_+.)-]/g, "");
        assert.doesNotMatch(unescaped, /[\\[\]*`<>{}]/);
        // An underscore starts emphasis only at the beginning of a word.
        assert.doesNotMatch(text.replace(/\\./g, "\\."), /(?:^|[^\p{L}\p{N}_])_/u);
        assert.doesNotMatch(text, /^(?:[-+]|[0-9]+[.)]( |$))/);
      }
      for (const action of card.actions) assert.match(action.url, /^https?:\/\//);
    }),
    { numRuns: 300 },
  );
});
