import assert from "node:assert/strict";
import { test } from "node:test";
import { moveService, toChoice, toOffer, updateChosen } from "./chosen-services.ts";

const [cut, colour, shave] = ["cut", "colour", "shave"].map((id) => ({ id, name: id, durationMinutes: 30, staff: [] }));
assert.ok(cut && colour && shave);

test("a choice becomes the same offer again, without services that the system no longer has", () => {
  const offer = [
    { serviceId: "shave", staffIds: ["mara"] },
    { serviceId: "removed", staffIds: null },
    { serviceId: "cut", staffIds: null },
  ];
  const choice = toChoice([cut, colour, shave], offer);
  assert.deepEqual(
    choice.chosen.map(({ id, isOffered }) => [id, isOffered]),
    [
      ["shave", true],
      ["cut", true],
      ["colour", false],
    ],
  );
  assert.deepEqual(toOffer(choice), [offer[0], offer[2]]);
  assert.equal(toOffer(toChoice([cut], null)), null);
});

test("an edited choice keeps its order and ticks when the system's services change", () => {
  const { chosen } = toChoice([cut, colour], [{ serviceId: "cut", staffIds: null }]);
  const longer = { ...cut, durationMinutes: 45 };
  assert.deepEqual(updateChosen(moveService(chosen, 0, 1), [longer, shave]), [
    { ...longer, isOffered: true, staffIds: [] },
    { ...shave, isOffered: false, staffIds: [] },
  ]);
});
