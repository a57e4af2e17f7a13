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
import type { Paths } from "../paths.ts";

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
