import assert from "node:assert/strict";
import { test } from "node:test";
import { Mask } from "./record-exchanges.ts";

const SECRET = "s3cr3t~of/the+app=";
const FORMS = [
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString("base64"),
  Buffer.from(SECRET).toString("base64url"),
];
const REFERENCE = "SVC-234567";
const SERVICES = { url: "https://api.example/v2/event-types", status: 200 };
const BOOKINGS = { url: "https://api.example/v2/bookings?take=1", status: 200 };

const createMask = () => new Mask({ secrets: [SECRET], reference: REFERENCE });

test("a secret is masked everywhere: in texts, URLs, lists and property names", () => {
  const mask = createMask();
  for (const form of FORMS) {
    const json = {
      title: `Invalid key ${form}!`,
      nested: [{ uri: `https://api.example/${form}?x=1` }, { options: [form] }],
      [`seen ${form}`]: true,
      slotCount: 3,
    };
    const places = [
      mask.request(json),
      mask.response(json, SERVICES),
      mask.response({ ...json, reference: REFERENCE }, BOOKINGS),
      mask.response(json, { ...BOOKINGS, status: 400 }),
    ];
    for (const masked of places.map((place) => JSON.stringify(place))) {
      assert.equal(masked.includes(form), false, form);
      assert.ok(masked.includes('"slotCount":3') && masked.includes("Invalid key ***!"), masked);
    }
  }
});

test("a token obtained during the check is masked like the connection's own", () => {
  const mask = createMask();
  assert.equal(mask.text("token-1 and more"), "token-1 and more");
  mask.add("token-1");
  assert.equal(mask.text(`token-1 and ${SECRET}`), "*** and ***");
  assert.deepEqual(mask.response({ access_token: "anything" }, SERVICES), { access_token: "***" });
});

test("of other appointments only ids, states and times are kept, whatever their fields are called", () => {
  const appointment = {
    uid: "a1",
    status: "accepted",
    start: "2026-11-02T09:00:00Z",
    eventTypeId: 7,
    title: "Check-up between Ada Winter and Mara Quell",
    description: "Afraid of needles",
    cancellationReason: "Ill",
    serviceNotes: "SVC-999999",
    metadata: { reference: "SVC-999999", crm: "Quell 17" },
    attendees: [{ id: 4, name: "Mara Quell", email: "mara@example.com", newField: "born 1980-01-01" }],
    bookingFieldsResponses: { notes: "Call me at +49 30 5550100", "date-of-birth": "1980-01-01" },
    meetingUrl: "https://meet.example/secret",
  };
  assert.deepEqual(createMask().response({ status: "success", data: [appointment] }, BOOKINGS), {
    status: "success",
    data: [
      {
        uid: "a1",
        status: "accepted",
        start: "2026-11-02T09:00:00Z",
        eventTypeId: 7,
        title: "***",
        description: "***",
        cancellationReason: "***",
        serviceNotes: "***",
        metadata: { reference: "***", crm: "***" },
        attendees: [{ id: 4, name: "***", email: "***", newField: "***" }],
        bookingFieldsResponses: { notes: "***", "date-of-birth": "***" },
        meetingUrl: "https://masked.example/",
      },
    ],
  });
});

test("the test appointment is shown, but not the people in it", () => {
  const own = {
    title: "Check-up",
    metadata: { reference: REFERENCE },
    hosts: [{ id: 1, name: "Ada Winter", email: "ada@example.com" }],
    meetingUrl: "https://meet.example/secret",
  };
  const other = { title: "Check-up with Mara Quell", metadata: { reference: "SVC-999999" } };
  assert.deepEqual(createMask().response({ data: [own, other] }, BOOKINGS), {
    data: [
      {
        title: "Check-up",
        metadata: { reference: REFERENCE },
        hosts: [{ id: 1, name: "***", email: "***" }],
        meetingUrl: "https://masked.example/",
      },
      { title: "***", metadata: { reference: "***" } },
    ],
  });
});

test("services and questions are shown, but neither staff nor fields that no adapter reads", () => {
  const json = {
    title: "Check-up",
    ownerEmail: "ada@example.com",
    hosts: [{ id: 1, name: "Ada Winter" }],
    bookingFields: [{ type: "select", label: "Does it hurt?", options: ["Yes", "No"], placeholder: "Choose" }],
    defaultLocation: { displayName: "Practice", address: { street: "Lindenstrasse 1" } },
  };
  assert.deepEqual(createMask().response(json, SERVICES), {
    title: "Check-up",
    ownerEmail: "***",
    hosts: [{ id: 1, name: "***" }],
    bookingFields: [{ type: "select", label: "Does it hurt?", options: ["Yes", "No"], placeholder: "***" }],
    defaultLocation: { displayName: "Practice", address: { street: "Lindenstrasse 1" } },
  });
  const staff = { url: "https://graph.example/v1.0/solutions/bookingBusinesses/a@b.example/staffMembers", status: 200 };
  assert.deepEqual(createMask().response({ value: [{ id: "s1", displayName: "Ada Winter" }] }, staff), {
    value: [{ id: "s1", displayName: "***" }],
  });
});
