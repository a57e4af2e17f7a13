import { Badge, ScrollArea, Stack, Text, Tooltip, VisuallyHidden } from "@mantine/core";
import { useNarrowSidebar } from "../hooks/screen-width.ts";
import type { Paths } from "../paths.ts";
import { PlainLink } from "../ui/layout/links.tsx";
import { useAlerts } from "./alerts.ts";
import classes from "./Navigation.module.css";
import { NAVIGATION } from "./navigation.ts";

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
