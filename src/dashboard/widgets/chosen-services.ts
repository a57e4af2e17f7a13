import type { AppWidget, WidgetServices } from "#contract/app/widgets.ts";

export type ChosenService = WidgetServices["services"][number] & {
  isOffered: boolean;
  /** Empty: everyone. */
  staffIds: string[];
};

export type Offer = NonNullable<AppWidget["offer"]>;

/** What the form shows. Services can be chosen even while everything is offered. */
export type Choice = { isAll: boolean; chosen: readonly ChosenService[] };

/** Offered services first, in their order, then the others. Services that the system no longer has are left out. */
export function toChoice(known: WidgetServices["services"], offer: Offer | null): Choice {
  const offered = (offer ?? []).flatMap(({ serviceId, staffIds }) => {
    const service = known.find(({ id }) => id === serviceId);
    return service ? [{ ...service, isOffered: true, staffIds: staffIds ?? [] }] : [];
  });
  const others = known.filter(({ id }) => !offered.some((service) => service.id === id));
  const chosen = [...offered, ...others.map((service) => ({ ...service, isOffered: offer === null, staffIds: [] }))];
  return { isAll: offer === null, chosen };
}

/** Follows changes in the scheduling system: services it no longer has are left out, and new ones come last, not offered. */
export function updateChosen(
  chosen: readonly ChosenService[],
  known: WidgetServices["services"],
): readonly ChosenService[] {
  const kept = chosen.flatMap((service) => {
    const current = known.find(({ id }) => id === service.id);
    return current ? [{ ...service, ...current }] : [];
  });
  const added = known.filter(({ id }) => !chosen.some((service) => service.id === id));
  return [...kept, ...added.map((service) => ({ ...service, isOffered: false, staffIds: [] }))];
}

export function toOffer({ isAll, chosen }: Choice): Offer | null {
  if (isAll) return null;
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
