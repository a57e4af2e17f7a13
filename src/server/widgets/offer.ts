import type { Offer } from "#contract/widgets/widget.ts";
import type { OfferedService, Slot } from "../scheduler/scheduler.ts";

// Which of a scheduling system's services and people a widget offers, and in which order. What the system no longer has is
// left out; what it has got since is not offered until someone adds it. Null: everything, as the system lists it.

export function applyOffer(services: readonly OfferedService[], offer: Offer | null): readonly OfferedService[] {
  if (offer === null) return services;
  return offer.flatMap(({ serviceId, staffIds }) => {
    const service = services.find(({ id }) => id === serviceId);
    if (!service) return [];
    if (staffIds === null || !service.staffSelectable) return [service];
    const staff = staffIds.flatMap((id) => service.staff.find((person) => person.id === id) ?? []);
    return staff.length === 0 ? [] : [{ ...service, staff }];
  });
}

/** The people among whom the system chooses for a visitor without a preference; null: everyone. */
export function toOfferedStaff(offer: Offer | null, service: OfferedService): readonly string[] | null {
  const staffIds = offer?.find(({ serviceId }) => serviceId === service.id)?.staffIds ?? null;
  return staffIds === null || !service.staffSelectable ? null : service.staff.map(({ id }) => id);
}

export function limitSlots(slots: readonly Slot[], staffIds: readonly string[] | null): readonly Slot[] {
  if (staffIds === null) return slots;
  return slots.flatMap((slot) => {
    const free = staffIds.filter((id) => slot.staffIds.includes(id));
    return free.length === 0 ? [] : [{ ...slot, staffIds: free }];
  });
}
