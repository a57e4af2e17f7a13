import type { RawAttribution } from "#contract/analytics/attribution.ts";
import { type ConsentChoice, type ConsentMode, decidePermission } from "./consent.ts";
import { attempt } from "./guarded.ts";
import {
  parseRecord,
  readAnalyticsIds,
  recordArrival,
  type TouchRecord,
  toPageAttribution,
  toRawAttribution,
} from "./touch-record.ts";

const KEY = "svc_attr";

/** Where the visitor came from, as far as they consent. */
export type VisitorAttribution = { read(): RawAttribution; decide(given?: ConsentChoice): void };

/** Nothing is read or stored before the first `decide`. */
export function createAttribution(mode: ConsentMode, at: Date): VisitorAttribution {
  const arrival = { page: location.href, referrer: document.referrer, at };
  let choice: ConsentChoice | undefined;
  let record: TouchRecord | undefined;
  let ids: RawAttribution | undefined;
  return {
    read: () =>
      record ? { ...toRawAttribution(record, location.href), ...ids } : toPageAttribution(arrival, location.href),
    decide(given) {
      // Storage and cookies throw if the visitor or the page's sandbox blocks them. Then only this page view counts.
      const known = attempt(() => parseRecord(localStorage.getItem(KEY), at));
      choice = given ?? choice ?? (known?.granted && "granted");
      const permission = decidePermission(mode, choice, navigator);
      if (permission === "waiting") return;
      // A page load counts once, however often the visitor answers.
      record = permission === "page" ? undefined : (record ?? recordArrival(known, arrival));
      ids = undefined;
      if (record && permission === "all") {
        record.granted = true;
        // Assigned above; the compiler loses sight of it inside the function.
        ids = attempt(() => readAnalyticsIds(document.cookie, record as TouchRecord));
      }
      attempt(() => (record ? localStorage.setItem(KEY, JSON.stringify(record)) : localStorage.removeItem(KEY)));
    },
  };
}
