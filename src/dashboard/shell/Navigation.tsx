import { ScrollArea, Stack, Text, Tooltip } from "@mantine/core";
import type { Paths } from "../paths.ts";
import { PlainLink } from "../ui/layout/links.tsx";
import classes from "./Navigation.module.css";
import { NAVIGATION } from "./navigation.ts";
import { useNarrowSidebar } from "./use-narrow-sidebar.ts";

export function Navigation({ paths }: { paths: Paths }) {
  const isNarrow = useNarrowSidebar();
  return (
    <ScrollArea component="nav" aria-label="Screens" type="scroll" scrollbarSize={6} className={classes["navigation"]}>
      <Stack gap="md">
        {NAVIGATION.map(({ title, items }) => (
          <div key={title}>
            <Text className={classes["title"]} c="dimmed">
              {title}
            </Text>
            <ul className={classes["items"]}>
              {items.map(({ label, icon: Picture, to }) => (
                <li key={label}>
                  <Tooltip label={label} position="right" disabled={!isNarrow}>
                    <PlainLink
                      to={to(paths)}
                      className={classes["item"]}
                      activeProps={{ "data-active": true, "aria-current": "page" }}
                    >
                      <Picture size={19} stroke={1.6} aria-hidden />
                      <span className={classes["label"]}>{label}</span>
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
