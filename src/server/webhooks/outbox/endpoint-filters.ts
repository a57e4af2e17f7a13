import type { Attribution } from "#contract/attribution.ts";
import { NOT_SET } from "#contract/dimensions.ts";
import { ENDPOINT_FILTERS, type EndpointFilterName, type EndpointFilters } from "#contract/endpoint.ts";

/** What filters look at; a webhook's `data` has the same fields. */
type FilteredBooking = {
  service: { id: string; name: string };
  attribution: Pick<Attribution, "channel" | "source" | "medium" | "campaign">;
};

/** Whether an endpoint with these filters gets events about the booking. Letter case doesn't matter. */
export function matchesFilters(filters: EndpointFilters, booking: FilteredBooking): boolean {
  return ENDPOINT_FILTERS.every((name) => {
    const wanted = filters[name];
    if (wanted === null) return true;
    const texts = toTexts(name, booking).map((text) => text.toLowerCase());
    return wanted.some((value) => texts.includes(value.toLowerCase()));
  });
}

/** The ways to name a booking's value in a filter. */
function toTexts(name: EndpointFilterName, { service, attribution }: FilteredBooking): string[] {
  const { channel, source, medium, campaign } = attribution;
  switch (name) {
    case "services":
      return [service.id, service.name];
    case "channels":
      return [channel ?? NOT_SET];
    case "sources":
      // As in analytics, which show "google / cpc".
      return source === undefined ? [NOT_SET] : [source, `${source} / ${medium ?? NOT_SET}`];
    case "campaigns":
      return [campaign ?? NOT_SET];
    default:
      return name satisfies never;
  }
}
