import { Badge, ScrollArea, Stack, Text, Tooltip, VisuallyHidden } from "@mantine/core";
import {
  type Icon,
  IconAppWindow,
  IconCalendarEvent,
  IconChartHistogram,
  IconHistory,
  IconHome,
  IconKey,
  IconPlugConnected,
  IconSend,
  IconSettings,
  IconUsers,
  IconWebhook,
} from "@tabler/icons-react";
import { useNarrowSidebar } from "../hooks/screen-width.ts";
import type { Paths } from "../paths.ts";
import { PlainLink } from "../ui/layout/links.tsx";
import { useAlerts } from "./alerts.ts";
import classes from "./Navigation.module.css";

type NavigationProps = { organization: string; paths: Paths; seesConnections: boolean };

export function Navigation({ organization, paths, seesConnections }: NavigationProps) {
  const isNarrow = useNarrowSidebar();
  const { endpoints, connections } = useAlerts(organization, seesConnections);
  const alerts = new Map([
    [paths.webhooks, endpoints.length],
    [paths.connections, connections.length],
  ]);
  return (
    <ScrollArea component="nav" aria-label="Screens" type="scroll" scrollbarSize={6} className={classes["navigation"]}>
      <Stack className={classes["groups"]}>
        {NAVIGATION.map(({ title, items }) => (
          <div key={title}>
            <Text className={classes["title"]} c="dimmed">
              {title}
            </Text>
            <ul className={classes["items"]}>
              {items.map(({ label, icon: Icon, to }) => (
                <li key={label}>
                  <Tooltip label={label} position="right" disabled={!isNarrow}>
                    <PlainLink
                      to={to(paths)}
                      className={classes["item"]}
                      activeOptions={{ exact: to(paths) === paths.start }}
                      activeProps={{ "data-active": true, "aria-current": "page" }}
                    >
                      <Icon size={19} stroke={1.6} aria-hidden />
                      <span className={classes["label"]}>{label}</span>
                      <AlertBadge count={alerts.get(to(paths)) ?? 0} />
                    </PlainLink>
                  </Tooltip>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </Stack>
    </ScrollArea>
  );
}

/** How many endpoints or connections don't work. */
function AlertBadge({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Badge color="red" size="sm" circle ml="auto" className={classes["alert"]}>
      {count}
      <VisuallyHidden> failing</VisuallyHidden>
    </Badge>
  );
}

type NavigationItem = { readonly label: string; readonly icon: Icon; readonly to: (paths: Paths) => string };

// biome-ignore format: one screen a line
export const NAVIGATION: readonly { readonly title: string; readonly items: readonly NavigationItem[] }[] = [
  {
    title: "Home",
    items: [
      { label: "Overview",  icon: IconHome,           to: (paths) => paths.start },
      { label: "Analytics", icon: IconChartHistogram, to: (paths) => paths.analytics },
      { label: "Bookings",  icon: IconCalendarEvent,  to: (paths) => paths.bookings },
      { label: "Widgets",   icon: IconAppWindow,      to: (paths) => paths.widgets },
    ],
  },
  {
    title: "Integrations",
    items: [
      { label: "Webhooks",    icon: IconWebhook,       to: (paths) => paths.webhooks },
      { label: "Deliveries",  icon: IconSend,          to: (paths) => paths.deliveries },
      { label: "API keys",    icon: IconKey,           to: (paths) => paths.keys },
      { label: "Connections", icon: IconPlugConnected, to: (paths) => paths.connections },
    ],
  },
  {
    title: "Organization",
    items: [
      { label: "Members",   icon: IconUsers,    to: (paths) => paths.members },
      { label: "Audit log", icon: IconHistory,  to: (paths) => paths.audit },
      { label: "Settings",  icon: IconSettings, to: (paths) => paths.settings },
    ],
  },
];
