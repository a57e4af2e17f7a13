import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { CardEvent } from "#contract/webhooks/webhook-event.ts";
import {
  anyBookingEvent,
  bookingCreated,
  endpointTest,
  textsOf,
} from "../../../../../test/support/webhooks/card-sample.ts";
import { toSlackCard } from "./slack-card.ts";

type Text = { type: string; text: string; emoji?: boolean; verbatim?: boolean };
type Block = { type: string; text?: Text; fields?: Text[]; elements?: (Text & { url?: string })[] };
type Message = { text: string; mrkdwn: boolean; blocks: Block[]; unfurl_links: boolean; unfurl_media: boolean };

function cardOf(event: CardEvent): Message {
  return JSON.parse(toSlackCard(event, false).toString());
}

/** The label and value of each line, which alternate in the sections. */
function factsOf(message: Message): string[][] {
  const cells = message.blocks.flatMap((block) => block.fields ?? []).map((field) => field.text);
  return Array.from({ length: cells.length / 2 }, (_, i) => cells.slice(i * 2, i * 2 + 2));
}

/** The one link of ours: to manage the booking. */
const isLink = ({ text }: Message["blocks"][number]) => /^<https?:\/\/[^<>|]*\|Manage booking>$/.test(text?.text ?? "");

test("a booking becomes a card with title, service, when, with, source, customer, reference, link and footer", () => {
  const label = (text: string) => ({ type: "mrkdwn", verbatim: true, text: `*${text}*` });
  const value = (text: string) => ({ type: "plain_text", text, emoji: false });
  assert.deepEqual(cardOf(bookingCreated()), {
    text: "New booking: Jane Doe, Intro call, Tue 5 May 2026 14:30 (Europe/Berlin)",
    mrkdwn: false,
    blocks: [
      { type: "header", text: value("New booking: Jane Doe, Intro call, Tue 5 May 2026 14:30") },
      {
        type: "section",
        fields: [
          label("Service"),
          value("Intro call"),
          label("When"),
          value("Tue 5 May 2026, 14:30–15:00 (Europe/Berlin)"),
          label("With"),
          value("Alex Kim, Sam Lee"),
        ],
      },
      {
        type: "section",
        fields: [
          label("Source"),
          value("google / cpc, spring_sale"),
          label("Customer"),
          value("Jane Doe, jane_doe@example.com"),
          label("Reference"),
          value("SVC-AB23CD"),
        ],
      },
      {
        // A button would show a warning after a click, as the app has no interactivity.
        type: "section",
        text: {
          type: "mrkdwn",
          verbatim: true,
          text: "<https://book.example.com/manage?id=1&amp;sig=a%2Fb|Manage booking>",
        },
      },
      { type: "context", elements: [value("Main widget | Acme Studio")] },
    ],
    unfurl_links: false,
    unfurl_media: false,
  });
});

test("mentions and links that a visitor typed are shown as typed and do nothing", () => {
  const event = bookingCreated({
    booking: {
      customer: { name: "<!channel> & <@U1>", email: "<https://evil|x>", phone: null, notes: null },
      service: { id: "s1", name: "*bold* _it_ :smile:" },
    },
  });
  const facts = Object.fromEntries(factsOf(cardOf(event)));
  assert.deepEqual(
    [facts["*Customer*"], facts["*Service*"]],
    ["&lt;!channel&gt; &amp; &lt;@U1&gt;, &lt;https://evil|x&gt;", "*bold* _it_ :smile:"],
  );
});

test("a very long name leaves the service and the time in the title, cut between characters", () => {
  const event = bookingCreated({
    booking: { customer: { name: "😀".repeat(500), email: "a@b.example", phone: null, notes: null } },
  });
  assert.equal(
    cardOf(event).blocks[0]?.text?.text,
    `New booking: ${"😀".repeat(24)}…, Intro call, Tue 5 May 2026 14:30`,
  );
});

test("a test event becomes a card that says it is a test", () => {
  const message = cardOf(endpointTest);
  assert.deepEqual(
    [message.text, factsOf(message), message.blocks.map((block) => block.type), message.blocks.at(-1)?.elements],
    [
      "Test message: new bookings will appear here",
      [
        ["*Business*", "Acme &lt;Studio&gt;"],
        ["*Endpoint*", "we_1111111111111111"],
      ],
      ["header", "section", "context"],
      [{ type: "plain_text", text: "No booking was made.", emoji: false }],
    ],
  );
});

test("any booking gives a card within Slack's limits", () => {
  fc.assert(
    fc.property(anyBookingEvent, (event) => {
      const bytes = toSlackCard(event, false);
      const message: Message = JSON.parse(bytes.toString());
      assert.deepEqual(Buffer.from(JSON.stringify(message)), bytes);
      assert.ok(message.text.length >= 1 && message.text.length <= 3_000);
      assert.ok(message.blocks.length <= 50);
      for (const block of message.blocks) {
        if (isLink(block)) {
          assert.ok((block.text?.text.length ?? 0) <= 3_000);
          continue;
        }
        const texts = [block.text, ...(block.fields ?? []), ...(block.elements ?? [])].filter(
          (text) => text?.text !== undefined,
        );
        for (const text of texts) assert.ok(textsOf(text?.text).every((one) => one.length >= 1 && one.length <= 2_000));
        assert.ok((block.fields ?? []).length <= 10 && (block.elements ?? []).length <= 10);
        if (block.type === "header") assert.ok((block.text?.text.length ?? 0) <= 150);
      }
      assert.ok(bytes.length <= 40_000);
    }),
    { numRuns: 300 },
  );
});

test("no booking can put a control sequence, a mention, a link or Markdown on a Slack card", () => {
  fc.assert(
    fc.property(anyBookingEvent, (event) => {
      const message = cardOf(event);
      const shown = [
        message.text,
        ...message.blocks
          .filter((block) => !isLink(block))
          .flatMap((block) => [block.text, ...(block.fields ?? []), ...(block.elements ?? [])])
          .flatMap((text) => textsOf(text?.text)),
      ];
      for (const text of shown) {
        assert.ok(text.isWellFormed());
        assert.doesNotMatch(text, /[<>]|&(?!(?:amp|lt|gt);)|[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
      }
      const formatted = textsOf(
        message.blocks.flatMap((block) =>
          (block.fields ?? []).filter((field) => field.type === "mrkdwn").map((field) => field.text),
        ),
      );
      const before = event.type === "booking.rescheduled" ? ["*Before*"] : [];
      assert.deepEqual(formatted, [
        ...["*Service*", "*When*", ...before, "*With*"],
        ...["*Source*", "*Customer*", "*Reference*"],
      ]);
    }),
    { numRuns: 300 },
  );
});
