import { IconTrash } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { BookingDetail } from "#contract/app/bookings.ts";
import { bookingQuery, bookingsKey } from "../api/bookings.ts";
import { call } from "../api/call.ts";
import { ApiFailure } from "../api/client.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ConfirmButton } from "../ui/forms/ConfirmDialog.tsx";
import type { ShownFilters } from "./shown-filters.ts";

export function DeleteBooking({ booking, filters }: { booking: BookingDetail; filters: ShownFilters }) {
  const { id, paths, can } = useOrganization();
  const { reference } = booking;
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <ConfirmButton
      label="Delete booking"
      button={{
        variant: "outline",
        color: "red",
        verdict: can("deleteBooking"),
        leftSection: <IconTrash size={17} stroke={1.6} />,
      }}
      title={`Delete ${reference}?`}
      action={{
        run: () => deleteBooking(id, reference),
        successMessage: (outcome) => (outcome === "gone" ? `${reference} was already deleted` : `${reference} deleted`),
        onDone: async () => {
          await navigate({ to: paths.bookings, search: () => filters, replace: true });
          queries.removeQueries({ queryKey: bookingQuery(id, reference).queryKey });
          await queries.invalidateQueries({ queryKey: bookingsKey(id) });
        },
      }}
    >
      This permanently deletes the stored booking and the content of its webhook deliveries, and cancels queued ones.
      The appointment stays in your scheduling system, and analytics keep counting it.
    </ConfirmButton>
  );
}

/** A booking that someone else has already deleted counts as success. */
async function deleteBooking(organization: string, reference: string): Promise<"deleted" | "gone"> {
  try {
    await call("deleteBooking", { organization, params: { reference } });
    return "deleted";
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return "gone";
    throw error;
  }
}
