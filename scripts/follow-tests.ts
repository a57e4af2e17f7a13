import hooks from "node:async_hooks";

// Loaded before anything else in the processes that run tests. node:test finds the test that a nested one belongs to with an
// async hook that sees every promise, which makes each `await` thirty times slower. While node:test is loaded, it gets the
// functions below instead: they follow the running test with AsyncLocalStorage. Without this file, tests only take longer.

type Init = (id: number, type: string, triggerId: number, resource: object) => void;

const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = hooks;
const runningTest = new AsyncLocalStorage<number>();
/** How node:test notes that a resource is a test; it ignores others. */
let note: Init = () => {};

class TestResource extends AsyncResource {
  constructor(...args: ConstructorParameters<typeof AsyncResource>) {
    super(...args);
    note(this.asyncId(), args[0], this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result, Args extends unknown[]>(
    run: (this: This, ...args: Args) => Result,
    self?: This,
    ...args: Args
  ): Result {
    const id = this.asyncId();
    return super.runInAsyncScope(() => runningTest.run(id, () => Reflect.apply(run, self, args)));
  }
}

Object.assign(hooks, {
  AsyncResource: TestResource,
  executionAsyncId: () => runningTest.getStore() ?? executionAsyncId(),
  createHook({ init }: { init: Init }) {
    note = init;
    return { enable() {}, disable() {} };
  },
});
await import("node:test");
Object.assign(hooks, { AsyncResource, createHook, executionAsyncId });
