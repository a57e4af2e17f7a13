import { IconCalendarEvent, IconDatabaseOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { widgetsQuery } from "../api/widgets.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ButtonLink } from "../ui/layout/links.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { NoMatches } from "../ui/states/NoMatches.tsx";

/** Why the list is empty, and what to do next. */
export function NoBookings({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const { id, paths, details } = useOrganization();
  const { data: widgets } = useQuery(widgetsQuery(id));
  if (isFiltered)
    return <NoMatches onClear={onClear}>Only bookings from the last {details.plan.retention} are stored.</NoMatches>;
  if (widgets?.data.some((widget) => widget.collectData))
    return (
      <EmptyState icon={IconCalendarEvent} title="No bookings yet">
        New bookings appear here as soon as they’re made through a widget with Store bookings on.
      </EmptyState>
    );
  return (
    <EmptyState
      icon={IconDatabaseOff}
      title="Store bookings is off"
      action={<ButtonLink to={paths.widgets}>Go to widgets</ButtonLink>}
    >
      Visitors can book and are counted in analytics, but their bookings aren’t stored or sent to webhooks. Turn on
      Store bookings for a widget to see its new bookings here.
    </EmptyState>
  );
}
