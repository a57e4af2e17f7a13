import type { AppWidget, WidgetServices } from "#contract/app/widgets.ts";

export type ChosenService = WidgetServices["services"][number] & {
  isOffered: boolean;
  /** Empty: everyone. */
  staffIds: string[];
};

type Offer = NonNullable<AppWidget["offer"]>;

/** Offered services first, in their order, then the others. */
export function toChosen(known: WidgetServices["services"], offer: Offer | null): ChosenService[] {
  const offered = (offer ?? []).flatMap(({ serviceId, staffIds }) => {
    const service = known.find(({ id }) => id === serviceId);
    return service ? [{ ...service, isOffered: true, staffIds: staffIds ?? [] }] : [];
  });
  const others = known.filter(({ id }) => !offered.some((service) => service.id === id));
  return [...offered, ...others.map((service) => ({ ...service, isOffered: offer === null, staffIds: [] }))];
}

export function toOffer(chosen: readonly ChosenService[]): Offer {
  return chosen
    .filter(({ isOffered }) => isOffered)
    .map(({ id, staffIds }) => ({ serviceId: id, staffIds: staffIds.length === 0 ? null : staffIds }));
}

export function moveService(chosen: readonly ChosenService[], index: number, by: 1 | -1): ChosenService[] {
  const moved = [...chosen];
  const [service] = moved.splice(index, 1);
  if (service) moved.splice(index + by, 0, service);
  return moved;
}
