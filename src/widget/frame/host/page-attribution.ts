import type { RawAttribution } from "#contract/analytics/attribution.ts";
import { CLICK_ID_PARAMETERS } from "#contract/analytics/attribution-fields.ts";
import { readAddress } from "../../address.ts";

/** The direct page has no loader, so its own address says where the visitor came from. */
export function readPageAttribution(page: {
  address: string;
  referrer: string;
  /** With Global Privacy Control or Do Not Track, nothing that identifies a person is kept. */
  isPrivate: boolean;
}): RawAttribution {
  const { tags, whole, place, root } = readAddress(page.address, page.isPrivate ? CLICK_ID_PARAMETERS : []);
  const from = readAddress(page.referrer);
  return {
    ...tags,
    landingPage: whole,
    currentPage: place,
    ...(from.place === "" || from.root === root ? {} : { referrer: from.place }),
  };
}
