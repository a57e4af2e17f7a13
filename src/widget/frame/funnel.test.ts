import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrowserStep } from "#contract/analytics/steps.ts";
import type { CollectRequest } from "#contract/widgets/embed-api.ts";
import { Funnel, type SendSteps } from "./funnel.ts";
import { VisitKeeper } from "./visit.ts";

type Storage = Map<string, string>;

function makeVisit(storage: Storage | null, ids = ["first", "second", "third"], mayStore = true) {
  const uuid = (name: string) => name.padEnd(36, "0").replace(/[^0-9a-f]/g, "a");
  return new VisitKeeper({
    widget: "w_1",
    mayStore,
    storage: () => {
      if (!storage) throw new Error("SecurityError");
      return {
        getItem: (key) => storage.get(key) ?? null,
        setItem: (key, value) => void storage.set(key, value),
        removeItem: (key) => void storage.delete(key),
      };
    },
    makeId: () => uuid(ids.shift() ?? "last"),
  });
}

function makeFunnel(options: { visit?: VisitKeeper; send?: SendSteps } = {}) {
  const sent: CollectRequest[] = [];
  const told: BrowserStep[] = [];
  const waits: number[] = [];
  let acts = 0;
  const visit = options.visit ?? makeVisit(new Map());
  const funnel = new Funnel({
    visit,
    attribution: () => ({ utmSource: "google" }),
    page: () => "https://lindenhof.example/book",
    send: async (body) => {
      acts += 1;
      const outcome = (await options.send?.(body)) ?? "done";
      if (outcome === "done") sent.push(JSON.parse(body));
      return outcome;
    },
    wait: async (ms) => {
      acts += 1;
      waits.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
    onStep: (step) => told.push(step),
  });
  /** Waiting takes one turn of the event loop here: when a few turns bring nothing new, nothing is in progress. */
  const settled = async () => {
    for (let before = -1; before !== acts; ) {
      before = acts;
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { funnel, sent, told, waits, visit, settled };
}

test("each step of a visit is sent once, simultaneous ones together, with where the visitor came from", async () => {
  const { funnel, sent, told, visit, settled } = makeFunnel();
  for (const step of ["widget_viewed", "service_selected", "widget_viewed"] as const) funnel.record(step);
  await settled();
  funnel.record("service_selected");
  await settled();
  assert.deepEqual(sent, [
    {
      visitId: visit.id,
      page: "https://lindenhof.example/book",
      attribution: { utmSource: "google" },
      events: [{ step: "widget_viewed" }, { step: "service_selected" }],
    },
  ]);
  assert.deepEqual(told, ["widget_viewed", "service_selected"]);
});

test("choices made before the widget is seen count once it is seen, and never otherwise", async () => {
  const { funnel, sent, told, settled } = makeFunnel();
  funnel.record("service_selected");
  funnel.record("no_availability");
  await settled();
  assert.deepEqual([sent, told, funnel.takeWaiting()], [[], [], []]);
  funnel.record("widget_viewed");
  await settled();
  assert.deepEqual(told, ["widget_viewed", "service_selected", "no_availability"]);
  assert.deepEqual(
    sent.map(({ events }) => events.map(({ step }) => step)),
    [told],
  );
});

test("steps that can't be sent are sent later, once, with growing waits", async () => {
  let failures = 2;
  const { funnel, sent, waits, settled } = makeFunnel({ send: async () => (failures-- > 0 ? "later" : "done") });
  funnel.record("widget_viewed");
  await settled();
  assert.deepEqual(
    sent.map(({ events }) => events),
    [[{ step: "widget_viewed" }]],
  );
  assert.deepEqual(waits, [50, 1_000, 2_000]);
});

test("after six tries steps wait for the page to close, and a new step tries them all again", async () => {
  let tries = 0;
  const { funnel, sent, settled } = makeFunnel({ send: async () => (++tries <= 6 ? "later" : "done") });
  funnel.record("widget_viewed");
  await settled();
  assert.equal(tries, 6);
  funnel.record("service_selected");
  await settled();
  assert.deepEqual(
    sent.map(({ events }) => events),
    [[{ step: "widget_viewed" }, { step: "service_selected" }]],
  );
});

test("steps still waiting when the page closes are handed over per visit, and not sent twice", async () => {
  const visit = makeVisit(new Map());
  const { funnel, sent, settled } = makeFunnel({ visit });
  funnel.record("widget_viewed");
  const before = visit.id;
  visit.begin();
  funnel.record("widget_viewed");
  const bodies = funnel.takeWaiting().map((body) => JSON.parse(body) as CollectRequest);
  assert.deepEqual(
    bodies.map(({ visitId }) => visitId),
    [before, visit.id],
  );
  await settled();
  assert.deepEqual(sent, []);
});

test("a visit survives a reload, and a new one starts on request", () => {
  const storage: Storage = new Map();
  const first = makeVisit(storage, ["first"]);
  assert.equal(first.take("widget_viewed"), true);
  const again = makeVisit(storage, ["second"]);
  assert.equal(again.id, first.id);
  assert.equal(again.take("widget_viewed"), false);
  again.begin();
  assert.notEqual(again.id, first.id);
  assert.equal(again.take("widget_viewed"), true);
});

test("without permission nothing is stored, and an earlier visit is neither read nor kept", () => {
  const storage: Storage = new Map();
  const earlier = makeVisit(storage, ["first"]);
  const visit = makeVisit(storage, ["second", "third"], false);
  assert.notEqual(visit.id, earlier.id);
  assert.equal(visit.take("widget_viewed"), true);
  visit.begin();
  assert.equal(storage.size, 0);
  visit.permit(true);
  assert.equal(makeVisit(storage, ["fourth"]).id, visit.id);
  visit.permit(false);
  assert.equal(visit.take("service_selected"), true);
  assert.equal(storage.size, 0);
});

test("when storage is blocked or contains nonsense, the visit is kept in memory", () => {
  const blocked = makeVisit(null);
  assert.equal(blocked.take("widget_viewed"), true);
  assert.equal(blocked.take("widget_viewed"), false);
  for (const nonsense of ["{", "null", "7", '{"id":7}', '{"id":"x","steps":[]}']) {
    const visit = makeVisit(new Map([["svc_visit_w_1", nonsense]]));
    assert.match(visit.id, /^[0-9a-f]{36}$/);
  }
});
