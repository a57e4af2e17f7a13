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

const ASKING: OfferedService = {
  ...service,
  phoneRequired: true,
  questions: [
    { id: "days", label: "Days", type: "choices", options: ["Mon", "Tue, early", "Wed"], required: true },
    { id: "terms", label: "I agree", type: "tick", options: [], required: true },
    { id: "mobile", label: "Mobile", type: "phone", options: [], required: false },
  ],
};

function checkAsking(phone: string | null, answers: Record<string, string>) {
  const result = checkBookRequest(
    {
      visitId: "6f1c1d9e-7b0a-4a51-9d7e-0c1b5a3f2e44",
      serviceId: "visit",
      start: "2026-11-02T08:00:00Z",
      timeZone: "UTC",
      customer: { name: "Mara Quell", email: "mara@example.com", phone },
      answers: Object.entries(answers).map(([questionId, answer]) => ({ questionId, answer })),
    },
    ASKING,
  );
  return "fields" in result ? result.fields : result.checked.answers.map(({ answer }) => answer);
}

const COUNTRY_CODE = "Please enter the number with its country code, for example +49 30 1234567.";

test("several choices, a tick and a phone number are accepted as they are written", () => {
  const answers = { days: "Mon\nTue, early", terms: "Yes", mobile: "+49 (171) 123-4567" };
  assert.deepEqual(checkAsking("+49 30 1234567", answers), ["Mon\nTue, early", "Yes", "+49 (171) 123-4567"]);
});

test("choices that aren't offered or come twice, another word than the tick's, and numbers without a country are refused", () => {
  const right = { days: "Mon", terms: "Yes" };
  for (const days of ["Mon\nSun", "Mon\nMon", "Tue"])
    assert.deepEqual(checkAsking("+49301234567", { ...right, days }), {
      "answers.days": "Choose one of the options.",
    });
  assert.deepEqual(checkAsking("+49301234567", { ...right, terms: "no" }), {
    "answers.terms": "Please tick this box or leave it empty.",
  });
  assert.deepEqual(checkAsking("+49301234567", { days: "Mon" }), { "answers.terms": "Please answer this question." });
  assert.deepEqual(checkAsking("+49301234567", { ...right, mobile: "0171 1234567" }), {
    "answers.mobile": COUNTRY_CODE,
  });
  for (const phone of [null, "", "030 1234567"])
    assert.deepEqual(checkAsking(phone, right), { "customer.phone": COUNTRY_CODE });
});
