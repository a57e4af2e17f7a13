import hooks from "node:async_hooks";

// Preloaded in the processes that run tests. node:test uses an async hook to find the parent of a nested test; the hook sees
// every promise and makes each `await` thirty times slower. While node:test loads, it gets the functions below instead of Node's
// own: they follow the running test with AsyncLocalStorage. It needs all three or none, so a run fails if a new version of Node
// uses only some of them. Without this file, tests only take longer.

type Init = (id: number, type: string, triggerId: number, resource: object) => void;

const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = hooks;
const runningTestId = new AsyncLocalStorage<number>();
const used = new Set<string>();
/** The hook of node:test. It only needs to hear of tests. */
let recordTest: Init = () => {};

class TestResource extends AsyncResource {
  constructor(...args: ConstructorParameters<typeof AsyncResource>) {
    super(...args);
    recordTest(this.asyncId(), args[0], this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result, Args extends unknown[]>(
    run: (this: This, ...args: Args) => Result,
    self?: This,
    ...args: Args
  ): Result {
    used.add("AsyncResource");
    const id = this.asyncId();
    return super.runInAsyncScope(() => runningTestId.run(id, () => Reflect.apply(run, self, args)));
  }
}

const replacements = {
  AsyncResource: TestResource,
  createHook({ init }: { init: Init }) {
    used.add("createHook");
    recordTest = init;
    return { enable() {}, disable() {} };
  },
  executionAsyncId() {
    used.add("executionAsyncId");
    return runningTestId.getStore() ?? executionAsyncId();
  },
};

Object.assign(hooks, replacements);
await import("node:test");
Object.assign(hooks, { AsyncResource, createHook, executionAsyncId });

process.once("exit", () => {
  if (used.size === 0 || used.size === Object.keys(replacements).length) return;
  console.error(`node:test has changed: scripts/follow-tests.ts must be adapted. It used ${[...used].join(", ")}.`);
  process.exitCode = 1;
});
