import { describe } from "node:test";
import { testBooking } from "./booking.ts";
import { testChanges } from "./changes.ts";
import { testOffer } from "./offer.ts";
import { testSeats } from "./seats.ts";
import type { ConformanceSubject } from "./subject.ts";

export function testConformance(name: string, open: () => Promise<ConformanceSubject>): void {
  describe(`${name} as a scheduling system`, () => {
    testOffer(open);
    testBooking(open);
    testSeats(open);
    testChanges(open);
  });
}
