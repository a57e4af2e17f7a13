import assert from "node:assert/strict";
import { test } from "node:test";
import { Mask } from "./mask.ts";

const SECRET = "s3cr3t~of/the+app=";
const FORMS = [
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString("base64"),
  Buffer.from(SECRET).toString("base64url"),
];

test("a secret is masked everywhere: in texts, URLs, lists and property names", () => {
  const mask = new Mask({ secrets: [SECRET], ownEmail: "test@example.com" });
  for (const form of FORMS) {
    const json = {
      message: `Invalid key ${form}!`,
      nested: [{ url: `https://api.example/${form}?x=1` }, [form]],
      [`seen ${form}`]: true,
      slotCount: 3,
    };
    const masked = JSON.stringify(mask.json(json));
    assert.equal(masked.includes(form), false, form);
    assert.equal(masked.match(/\*\*\*/g)?.length, 4, masked);
    assert.ok(masked.includes('"slotCount":3') && masked.includes("Invalid key ***!"));
  }
});

test("a token obtained during the check is masked like the connection's own", () => {
  const mask = new Mask({ secrets: [SECRET], ownEmail: "test@example.com" });
  assert.equal(mask.text("token-1 and more"), "token-1 and more");
  mask.add("token-1");
  assert.equal(mask.text(`token-1 and ${SECRET}`), "*** and ***");
});

test("personal data is masked by field name, except the test booking's", () => {
  const mask = new Mask({ secrets: [], ownEmail: "test@example.com" });
  const json = {
    attendees: [{ name: "Mara Quell", email: "mara@example.com", seats: 1 }],
    customers: [{ name: "Bookflow Test", email: "test@example.com" }],
    phoneNumber: "+49 30 5550100",
    access_token: "secret anyway",
    title: "Check-up",
  };
  assert.deepEqual(mask.json(json), {
    attendees: [{ name: "***", email: "***", seats: 1 }],
    customers: [{ name: "Bookflow Test", email: "test@example.com" }],
    phoneNumber: "***",
    access_token: "***",
    title: "Check-up",
  });
});
