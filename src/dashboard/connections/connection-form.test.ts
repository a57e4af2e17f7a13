import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConnectionValues, findFault, toValues } from "./connection-form.ts";
import type { FieldName } from "./connection-words.ts";

const ID = "0f3c1a52-6f0e-4a3c-9d51-3a8f0c7d2b11";

test("what is certainly wrong is said before the system is asked", () => {
  // biome-ignore format: one case a line
  const cases: [name: FieldName, text: string, fault: RegExp | null][] = [
    ["clientId", ID, null], ["clientId", "Bookflow", /isn’t an application ID/],
    ["tenantId", ID, null], ["tenantId", "example.onmicrosoft.com", null], ["tenantId", "example", /isn’t a directory ID/],
    ["clientSecret", "aBc8Q~something.that_is-a.value", null], ["clientSecret", ID, /Secret ID/],
    ["apiKey", " cal_live_123 ", null], ["apiKey", "  ", /Required/],
    ["businessId", "lindenhof@example.com", null],
  ];
  for (const [name, text, fault] of cases) {
    const values: ConnectionValues = { ...toValues(null), [name]: text };
    if (fault === null) assert.equal(findFault(name, values), null, `${name}: ${text}`);
    else assert.match(findFault(name, values) ?? "", fault, `${name}: ${text}`);
  }
});
