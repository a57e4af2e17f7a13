import assert from "node:assert/strict";
import { test } from "node:test";
import { toInitials } from "./format.ts";

test("initials are whole characters, also of emoji and combined letters", () => {
  for (const [name, initials] of [
    ["Ada Lovelace", "AL"],
    ["ada king lovelace", "AK"],
    ["Ada", "AD"],
    ["  Ada   Lovelace ", "AL"],
    ["Ünal 😀", "Ü😀"],
    ["👩‍⚕️ Praxis", "👩‍⚕️P"],
    ["😀", "😀"],
    ["E\u0301lise O\u0308z", "E\u0301O\u0308"],
    ["", ""],
  ] as const)
    assert.equal(toInitials(name), initials, name);
});
