import { IconAppWindow, IconCalendarEvent, IconDatabaseOff, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { AppWidget } from "#contract/app/widgets.ts";
import { widgetsQuery } from "../api/queries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ButtonLink, TextLink } from "../ui/layout/links.tsx";
import { EmptyState, NoMatches } from "../ui/states/EmptyState.tsx";

export function NoBookings({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const { id, paths, details } = useOrganization();
  const widgets = useQuery(widgetsQuery(id)).data?.data;
  if (isFiltered)
    return <NoMatches onClear={onClear}>Only bookings from the last {details.plan.retention} are stored.</NoMatches>;
  // Until the widgets are loaded, the reason isn't known.
  if (!widgets || widgets.some(({ collectData }) => collectData))
    return (
      <EmptyState icon={IconCalendarEvent} title="No bookings yet">
        <StorageOff widgets={widgets ?? []} fallback="New bookings appear here as soon as they’re made." />
      </EmptyState>
    );
  if (widgets.length === 0) return <NoWidgets />;
  const [widget] = widgets;
  return (
    <EmptyState
      icon={IconDatabaseOff}
      title="Store bookings is off"
      action={
        widget && (
          <ButtonLink to={paths.widget(widget.id)} search={{ tab: "storage" }}>
            Open Store bookings of {widget.name}
          </ButtonLink>
        )
      }
    >
      Visitors can book, and bookings are counted in analytics. But customers’ details are only in your scheduling
      system: nothing is stored here or sent to webhooks. When it’s on, new bookings appear here; earlier ones aren’t
      added.
    </EmptyState>
  );
}

function NoWidgets() {
  const { paths, can } = useOrganization();
  const navigate = useNavigate();
  return (
    <EmptyState
      icon={IconAppWindow}
      title="No widgets yet"
      action={
        <ActionButton
          verdict={can("createWidget")}
          leftSection={<IconPlus size={17} stroke={1.8} />}
          onClick={() => void navigate({ to: paths.widgets, search: () => ({ new: "1" }) })}
        >
          Create widget
        </ActionButton>
      }
    >
      Visitors book through a widget on your website. Create one with Store bookings on to see its bookings here.
    </EmptyState>
  );
}

type ShownWidget = Pick<AppWidget, "id" | "name" | "collectData">;

/** Why bookings are missing from a list: names the first widget that doesn't store them, and leads to its switch. */
export function StorageOff({ widgets, fallback }: { widgets: readonly ShownWidget[]; fallback: string }) {
  const { paths } = useOrganization();
  const widget = widgets.find(({ collectData }) => !collectData);
  if (!widget) return fallback;
  return (
    <>
      Bookings made through {widget.name} are counted, but not stored.{" "}
      <TextLink to={paths.widget(widget.id)} search={{ tab: "storage" }} underline="always" inherit>
        Turn on Store bookings
      </TextLink>{" "}
      to see them here.
    </>
  );
}
