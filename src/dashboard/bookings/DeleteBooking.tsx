import { useDisclosure } from "@mantine/hooks";
import { IconTrash } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { BookingDetail } from "#contract/app/bookings.ts";
import { bookingQuery, bookingsKey } from "../api/bookings.ts";
import { call } from "../api/call.ts";
import { ApiFailure } from "../api/client.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmDialog } from "../ui/forms/ConfirmDialog.tsx";
import type { ShownFilters } from "./shown-filters.ts";

export function DeleteBooking({ booking, filters }: { booking: BookingDetail; filters: ShownFilters }) {
  const { id, paths, can } = useOrganization();
  const { reference } = booking;
  const [isOpen, dialog] = useDisclosure(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const remove = useAction({
    run: () => deleteBooking(id, reference),
    successMessage: (outcome) => (outcome === "gone" ? `${reference} was already deleted` : `${reference} deleted`),
    onDone: async () => {
      await navigate({ to: paths.bookings, search: () => filters, replace: true });
      queries.removeQueries({ queryKey: bookingQuery(id, reference).queryKey });
      await queries.invalidateQueries({ queryKey: bookingsKey(id) });
    },
  });
  return (
    <>
      <ActionButton
        variant="outline"
        color="red"
        verdict={can("deleteBooking")}
        leftSection={<IconTrash size={17} stroke={1.6} />}
        onClick={dialog.open}
      >
        Delete booking
      </ActionButton>
      <ConfirmDialog
        isOpen={isOpen}
        title={`Delete ${reference}?`}
        confirmLabel="Delete booking"
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
        onClose={dialog.close}
      >
        This permanently deletes the stored booking and the content of its webhook deliveries, and cancels queued ones.
        The appointment stays in your scheduling system, and analytics keep counting it.
      </ConfirmDialog>
    </>
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
