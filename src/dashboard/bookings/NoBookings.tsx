import { Button } from "@mantine/core";
import { IconCalendarEvent, IconDatabaseOff, IconSearchOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { widgetsQuery } from "../api/widgets.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ButtonLink } from "../ui/layout/links.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";

/** Why the list is empty, and what to do about it. */
export function NoBookings({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const { id, paths, details } = useOrganization();
  const { data: widgets } = useQuery(widgetsQuery(id));
  if (isFiltered)
    return (
      <EmptyState
        icon={IconSearchOff}
        title="No booking fits"
        action={
          <Button variant="default" onClick={onClear}>
            Clear search and filters
          </Button>
        }
      >
        Only stored bookings of the last {details.plan.retention} can be found.
      </EmptyState>
    );
  if (widgets?.data.some((widget) => widget.collectData))
    return (
      <EmptyState icon={IconCalendarEvent} title="No bookings yet">
        Bookings show up here the moment they are made through a widget with Store bookings on.
      </EmptyState>
    );
  return (
    <EmptyState
      icon={IconDatabaseOff}
      title="Store bookings is off everywhere"
      action={<ButtonLink to={paths.widgets}>Go to widgets</ButtonLink>}
    >
      Visitors can book, and analytics count them, but no copy of their bookings is kept here: there is nothing to
      search or export, and no webhook is sent. Switch Store bookings on for a widget to keep its new bookings.
    </EmptyState>
  );
}
