import assert from "node:assert/strict";
import { test } from "node:test";
import type { OfferedService } from "../../scheduler/scheduling-system.ts";
import { checkBookRequest } from "./check-book-request.ts";

const service: OfferedService = {
  id: "visit",
  name: "Visit",
  description: null,
  durationMinutes: 30,
  isOnline: false,
  staff: [],
  staffSelectable: false,
  questions: [{ id: "guests", label: "How many?", type: "number", options: [], required: false }],
};

function check(...answers: string[]) {
  return checkBookRequest(
    {
      visitId: "6f1c1d9e-7b0a-4a51-9d7e-0c1b5a3f2e44",
      serviceId: "visit",
      start: "2026-11-02T08:00:00Z",
      timeZone: "UTC",
      customer: { name: "Mara Quell", email: "mara@example.com" },
      answers: answers.map((answer) => ({ questionId: "guests", answer })),
    },
    service,
  );
}

const NUMBERS = { "3": "3", "-2": "-2", "1.5": "1.5", "1,5": "1.5", "2,25": "2.25", "1.500": "1.500", " 12 ": "12" };

for (const [typed, answer] of Object.entries(NUMBERS))
  test(`${JSON.stringify(typed)} is accepted as a number`, () => {
    const result = check(typed);
    assert.ok("checked" in result, JSON.stringify(result));
    assert.deepEqual(result.checked.answers, [{ questionId: "guests", question: "How many?", answer }]);
  });

for (const answer of [
  "abc",
  "1,500",
  "1,5,5",
  "1.5,5",
  "1,",
  "1.",
  ".5",
  "1e3",
  "0x10",
  "1 000",
  "٣",
  "Infinity",
  "9".repeat(16),
])
  test(`${JSON.stringify(answer)} is refused at its field`, () =>
    assert.deepEqual(check(answer), { fields: { "answers.guests": "Please enter a number, for example 3 or 1.5." } }));

test("an optional question may stay unanswered", () => {
  const result = check(" ");
  assert.ok("checked" in result);
  assert.deepEqual(result.checked.answers, []);
});

test("answering one question twice is an error", () => {
  const fault = { fields: { "answers.guests": "This question was answered more than once." } };
  assert.deepEqual(check("3", "4"), fault);
  assert.deepEqual(check("3", "3"), fault);
  assert.deepEqual(check("3", "many"), fault);
});
