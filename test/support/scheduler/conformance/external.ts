import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Reference } from "#contract/ids.ts";
import type { BookRequest } from "../../../../src/server/scheduler/scheduling-system.ts";
import type { Reply, Silence } from "../local-server.ts";
import { listWeek, requireBooked, requireFound, toRequest } from "../requests.ts";
import type { ConformanceSubject } from "./subject.ts";

// What every adapter of a scheduling system must do when the system, or the network, does not behave. The stand-in plays it.

export type ExternalSubject = ConformanceSubject & {
  /** Makes the stand-in answer the next requests to book with these. With `creates`, the appointment is made all the same. */
  readonly injectBookingFault: (...injections: { reply: Reply | Silence; creates?: boolean }[]) => void;
  /** "Too many requests", with the wait in the system's own header. */
  readonly toThrottled: (seconds: number) => Reply;
  /** The request as the system rejects it because of the customer. */
  readonly toRejected: (request: BookRequest) => BookRequest;
  /** Replaces the links of an appointment by ones that are not https. */
  readonly spoilLinks: (reference: Reference) => void;
  /** The business turns the service off. */
  readonly withdraw: (serviceId: string) => void;
  readonly countAppointments: () => number;
};

const NEVER = new AbortController().signal;
const UNAUTHORIZED = { reply: { status: 401, json: {} } } as const;

export function testExternalConformance(name: string, open: () => Promise<ExternalSubject>): void {
  const openWithSlot = async () => {
    const subject = await open();
    const serviceId = subject.services.plain;
    const [slot] = await listWeek(subject.system, { now: subject.now, serviceId });
    assert.ok(slot);
    return { ...subject, request: toRequest(serviceId, slot) };
  };

  describe(`${name} as a scheduling system`, () => {
    test("waits out a short rate limit, and books once", async () => {
      const { system, request, injectBookingFault, toThrottled, countAppointments } = await openWithSlot();
      injectBookingFault({ reply: toThrottled(1) });
      requireBooked(await system.book(request, NEVER));
      assert.equal(countAppointments(), 1);
    });

    test("reports a long rate limit with its wait, and books nothing", async () => {
      const { system, request, injectBookingFault, toThrottled, countAppointments } = await openWithSlot();
      injectBookingFault({ reply: toThrottled(60) });
      const outcome = await system.book(request, NEVER);
      assert.ok(outcome.kind === "unavailable", outcome.kind);
      assert.deepEqual([outcome.retryAfterMs, outcome.upstream?.status], [60_000, 429]);
      assert.equal(countAppointments(), 0);
    });

    test("tells a customer who is rejected from credentials that are", async () => {
      const { system, request, injectBookingFault, toRejected, countAppointments } = await openWithSlot();
      const rejected = await system.book(toRejected(request), NEVER);
      assert.ok(rejected.kind === "refused", rejected.kind);
      assert.equal(rejected.reason, "invalid");
      // Twice, because an adapter may get a new token after the first.
      injectBookingFault(UNAUTHORIZED, UNAUTHORIZED);
      const unknown = await system.book({ ...request, reference: "SVC-222222" as Reference }, NEVER);
      assert.ok(unknown.kind === "refused", unknown.kind);
      assert.equal(unknown.reason, "credentials");
      assert.equal(countAppointments(), 0);
    });

    test("neither confirms nor denies a booking whose reply is lost, and finds it by its reference", async () => {
      const { system, request, injectBookingFault, countAppointments } = await openWithSlot();
      injectBookingFault({ reply: "reset", creates: true });
      assert.equal((await system.book(request, NEVER)).kind, "unknown");
      assert.equal((await system.findByReference(request, NEVER)).kind, "found");
      assert.equal(countAppointments(), 1);
    });

    test("finds out what an error of the server means by looking", async () => {
      const { system, request, injectBookingFault, countAppointments } = await openWithSlot();
      injectBookingFault({ reply: { status: 500, json: {} } });
      assert.equal((await system.book(request, NEVER)).kind, "unavailable");
      injectBookingFault({ reply: { status: 500, json: {} }, creates: true });
      requireBooked(await system.book(request, NEVER));
      assert.equal(countAppointments(), 1);
    });

    test("drops links that are not https", async () => {
      const { system, now, services, spoilLinks } = await open();
      const [slot] = await listWeek(system, { now, serviceId: services.online });
      assert.ok(slot);
      const request = toRequest(services.online, slot);
      assert.notEqual(requireBooked(await system.book(request, NEVER)).joinUrl, null);
      spoilLinks(request.reference);
      const found = await system.findByReference(request, NEVER);
      assert.ok(found.kind === "found", found.kind);
      assert.equal(found.value.joinUrl, null);
      assert.ok(found.value.manageUrl === null || found.value.manageUrl.startsWith("https://"));
    });

    test("finds an appointment whose service is no longer offered", async () => {
      const { system, request, services, withdraw } = await openWithSlot();
      const booked = requireBooked(await system.book(request, NEVER));
      withdraw(services.plain);
      requireFound(await system.verify(NEVER));
      const offered = requireFound(await system.listServices(NEVER));
      assert.ok(!offered.some(({ id }) => id === services.plain));
      const found = await system.findByReference(request, NEVER);
      assert.deepEqual(found.kind === "found" && found.value.externalId, booked.externalId);
    });
  });
}
