import assert from "node:assert/strict";
import { test } from "node:test";
import { systemRandom } from "../../lib/secrets/random.ts";
import { hashPassword, verifyPassword } from "./password.ts";

const hash = (password: string) => hashPassword({ random: systemRandom }, password);

test("a password matches its own hash and no other", async () => {
  const made = await hash("correct horse");
  assert.equal(await verifyPassword({ hash: made, password: "correct horse" }), true);
  for (const password of ["correct horsf", "Correct horse", "correct horse ", ""])
    assert.equal(await verifyPassword({ hash: made, password }), false);
});

test("a hash is argon2id with its costs and its own salt", async () => {
  const [first, second] = [await hash("the same"), await hash("the same")];
  assert.match(first, /^\$argon2id\$v=19\$m=7168,t=5,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(first, second);
});

test("a hash made by another program with other costs matches too", async () => {
  // A test vector from the reference implementation's test.c.
  const reference = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  assert.equal(await verifyPassword({ hash: reference, password: "password" }), true);
});

test("a malformed hash matches nothing", async () => {
  for (const text of [
    "",
    "x",
    "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$AAAA",
    "$argon2id$v=19$m=1,t=1,p=1$$",
    "$2b$10$abc",
  ])
    assert.equal(await verifyPassword({ hash: text, password: "" }), false);
});
