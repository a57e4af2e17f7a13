import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkForm, toFormFaults } from "./check-form.ts";
import {
  changeFlow,
  leadsTo,
  listSteps,
  type Service,
  startFlow,
  toBooked,
  toBookingParts,
  toPreviousStep,
} from "./flow.ts";
import { texts } from "./texts/en.ts";

const service = (id: string, fields: Partial<Service> = {}): Service => ({
  id,
  name: id,
  durationMinutes: 30,
  isOnline: false,
  staffSelectable: false,
  staff: [],
  questions: [],
  ...fields,
});
const staffed = service("staffed", {
  staffSelectable: true,
  staff: [
    { id: "a", name: "A" },
    { id: "b", name: "B" },
  ],
});
const asking = service("asking", {
  questions: [
    { id: "why", label: "Why?", type: "text", required: true },
    { id: "how", label: "How?", type: "choice", options: ["x"], required: false },
  ],
});
const SLOT = { start: "2026-11-02T08:00:00.000Z", end: "2026-11-02T08:30:00.000Z", staffIds: [] };

describe("a visitor chooses only where there is a choice", () => {
  test("a single service is chosen from the start", () => {
    const flow = startFlow([service("only")], {});
    assert.deepEqual([flow.step, listSteps([service("only")], flow)], ["time", ["time", "form"]]);
    assert.equal(toPreviousStep([service("only")], flow), null);
  });
  test("the service the host page asks for is chosen, and the visitor can go back to the others", () => {
    const services = [service("one"), staffed];
    const flow = startFlow(services, { service: "staffed" });
    assert.deepEqual([flow.step, flow.service?.id, toPreviousStep(services, flow)], ["staff", "staffed", "service"]);
  });
  test("a service that does not exist is not chosen", () => {
    assert.equal(startFlow([service("one"), staffed], { service: "gone" }).step, "service");
  });
  test("staff are chosen if the service lets visitors choose", () => {
    const flow = changeFlow(startFlow([service("one"), staffed], {}), { type: "serviceChosen", service: staffed });
    assert.deepEqual(listSteps([service("one"), staffed], flow), ["service", "staff", "time", "form"]);
  });
});

test("going back keeps what was chosen and entered; a different choice clears what depended on it", () => {
  const services = [service("one"), staffed];
  let flow = startFlow(services, { service: "staffed" });
  flow = changeFlow(flow, { type: "staffChosen", staffId: "a" });
  flow = changeFlow(flow, { type: "slotChosen", slot: SLOT });
  flow = changeFlow(flow, { type: "entered", values: { name: "Mara" } });
  flow = changeFlow(flow, { type: "wentTo", step: "service" });
  flow = changeFlow(flow, { type: "serviceChosen", service: staffed });
  flow = changeFlow(flow, { type: "staffChosen", staffId: "a" });
  assert.deepEqual([flow.step, flow.slot, flow.values.name], ["time", SLOT, "Mara"]);
  assert.equal(changeFlow(flow, { type: "staffChosen", staffId: null }).slot, null);
  const other = changeFlow(flow, { type: "serviceChosen", service: services[0] ?? staffed });
  assert.deepEqual([other.slot, other.staffId, other.values.name], [null, null, "Mara"]);
});

describe("the browser's Back and Forward", () => {
  const services = [service("one"), staffed];
  const start = startFlow(services, {});
  const chosen = changeFlow(start, { type: "serviceChosen", service: services[0] ?? staffed });
  const timed = changeFlow(chosen, { type: "slotChosen", slot: SLOT });
  const form = changeFlow(timed, { type: "wentTo", step: "form" });
  const again = changeFlow(form, { type: "wentTo", step: "service" });
  const done = { ...form, step: "done" as const };
  for (const [sentence, flow, step, isBack, expected] of [
    ["Back leads to an earlier step", form, "time", true, true],
    ["or to one before that", form, "service", true, true],
    ["not to the same or a later one", timed, "form", true, false],
    ["not to a step this service doesn't have", form, "staff", true, false],
    ["Forward leads to where the visitor was", again, "form", false, true],
    ["not to a form without a time", chosen, "form", false, false],
    ["not to times without a service", start, "time", false, false],
    ["not to an earlier step", form, "time", false, false],
    ["neither leads anywhere from a finished booking", done, "form", true, false],
    ["neither", done, "form", false, false],
  ] as const)
    test(sentence, () => assert.equal(leadsTo(services, flow, { step, isBack }), expected));
});

test("a confirmation stays until the visitor starts over", () => {
  const start = startFlow([service("only")], {});
  const made = {
    ...{ reference: "SVC-ABC234", status: "confirmed", timeZone: "Europe/Berlin", staff: [], joinUrl: null },
    ...{ start: SLOT.start, end: SLOT.end, service: { id: "only", name: "only" } },
  };
  const booked = changeFlow(start, { type: "booked", booked: made });
  assert.equal(booked.step, "done");
  assert.equal(changeFlow(booked, { type: "wentTo", step: "time" }), booked);
  assert.equal(changeFlow(booked, { type: "slotChosen", slot: SLOT }), booked);
  assert.equal(changeFlow(booked, { type: "startedOver", flow: start }), start);
});

test("a confirmation without details shows what the visitor chose, and nothing that belongs to another choice", () => {
  const chosen = changeFlow(startFlow([service("only")], {}), { type: "slotChosen", slot: SLOT });
  const known = { reference: "SVC-ABC234", status: "confirmed", timeZone: "Europe/Berlin", staff: [], joinUrl: null };
  const show = (start: string, id: string) => {
    const booked = toBooked(chosen, { ...known, start, service: { id } });
    return [booked.start, booked.end, booked.service];
  };
  assert.deepEqual(show(SLOT.start, "only"), [SLOT.start, SLOT.end, { id: "only", name: "only" }]);
  const other = "2031-01-01T09:00:00.000Z";
  assert.deepEqual(show(other, "other"), [other, other, { id: "other", name: "" }]);
});

test("a later prefill fills only empty fields", () => {
  let flow = startFlow([asking], { prefill: { email: "mara@example.com" } });
  flow = changeFlow(flow, { type: "entered", values: { name: "Mara" } });
  flow = changeFlow(flow, { type: "prefilled", prefill: { name: "X", email: "y@example.com", phone: "1" } });
  assert.deepEqual([flow.values.name, flow.values.email, flow.values.phone], ["Mara", "mara@example.com", "1"]);
});

test("the request has the given answers, and null for those left out", () => {
  let flow = startFlow([asking], {});
  assert.equal(toBookingParts(flow), null);
  flow = changeFlow(flow, { type: "slotChosen", slot: SLOT });
  flow = changeFlow(flow, {
    type: "entered",
    values: { name: "M", email: "m@x.org", answers: { why: "so", how: " ", gone: "x" } },
  });
  assert.deepEqual(toBookingParts(flow), {
    serviceId: "asking",
    start: SLOT.start,
    customer: { name: "M", email: "m@x.org", phone: null, notes: null },
    answers: [{ questionId: "why", answer: "so" }],
  });
});

test("the form says what is missing, in the order of its fields", () => {
  const { values } = startFlow([asking], {});
  assert.deepEqual(
    [...checkForm(values, asking, texts)],
    [
      ["customer.name", texts.nameMissing],
      ["customer.email", texts.emailMissing],
      ["answers.why", texts.answerMissing],
    ],
  );
  const wrong = checkForm({ ...values, name: "M", email: "m@x", answers: { why: "so" } }, asking, texts);
  assert.deepEqual([...wrong], [["customer.email", texts.emailWrong]]);
});

test("the form asks for a number when one is expected, and accepts one", () => {
  const questions: Service["questions"] = [{ id: "many", label: "How many?", type: "number", required: false }];
  const values = { ...startFlow([asking], {}).values, name: "M", email: "m@x.org" };
  const check = (many: string) => [...checkForm({ ...values, answers: { many } }, { ...asking, questions }, texts)];
  for (const many of ["", "3", " 1.5 ", "1,5"]) assert.deepEqual(check(many), [], many);
  for (const many of ["abc", "1,500"]) assert.deepEqual(check(many), [["answers.many", texts.numberWrong]], many);
});

test("a refusal by the server is shown in the visitor's language, unless it is not about the form", () => {
  assert.deepEqual(
    [...(toFormFaults(["answers.why", "customer.notes"], asking, texts) ?? [])],
    [
      ["customer.notes", texts.tooLong],
      ["answers.why", texts.fieldWrong],
    ],
  );
  assert.equal(toFormFaults(["serviceId"], asking, texts), null);
});
