import type { BrowserStep } from "#contract/analytics/steps.ts";

// Where the visitor's browser may store something, a visit lasts as long as the tab and survives reloads. Otherwise, and where storage
// is blocked, it lasts as long as the page.

type Visit = { readonly id: string; readonly steps: readonly BrowserStep[] };

type Storage = {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
};

export class VisitKeeper {
  readonly #key: string;
  readonly #storage: () => Storage;
  readonly #makeId: () => string;
  #mayStore: boolean;
  #visit: Visit;

  /** `storage` may throw if the browser blocks a frame's storage. */
  constructor(options: { widget: string; mayStore: boolean; storage: () => Storage; makeId: () => string }) {
    this.#key = `svc_visit_${options.widget}`;
    this.#storage = options.storage;
    this.#makeId = options.makeId;
    this.#mayStore = options.mayStore;
    this.#visit = (options.mayStore && this.#read()) || { id: options.makeId(), steps: [] };
    this.#write();
  }

  get id(): string {
    return this.#visit.id;
  }

  has(step: BrowserStep): boolean {
    return this.#visit.steps.includes(step);
  }

  /** True the first time. */
  take(step: BrowserStep): boolean {
    if (this.has(step)) return false;
    this.#visit = { ...this.#visit, steps: [...this.#visit.steps, step] };
    this.#write();
    return true;
  }

  begin(): void {
    this.#visit = { id: this.#makeId(), steps: [] };
    this.#write();
  }

  /** The visitor may consent, or refuse, while the page is open. */
  permit(mayStore: boolean): void {
    this.#mayStore = mayStore;
    this.#write();
  }

  #read(): Visit | null {
    try {
      const value: unknown = JSON.parse(this.#storage().getItem(this.#key) ?? "null");
      const { id, steps } = (value ?? {}) as { id?: unknown; steps?: unknown };
      const isVisit = typeof id === "string" && /^[0-9a-f-]{36}$/.test(id) && Array.isArray(steps);
      return isVisit ? { id, steps } : null;
    } catch {
      return null;
    }
  }

  /** Without permission, what was stored earlier is deleted. */
  #write(): void {
    try {
      if (this.#mayStore) this.#storage().setItem(this.#key, JSON.stringify(this.#visit));
      else this.#storage().removeItem(this.#key);
    } catch {
      // Storage is blocked or full; the visit stays in memory.
    }
  }
}
