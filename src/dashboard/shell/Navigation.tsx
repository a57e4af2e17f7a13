import { ScrollArea, Stack, Text } from "@mantine/core";
import type { Paths } from "../paths.ts";
import { PlainLink } from "../ui/layout/links.tsx";
import classes from "./Navigation.module.css";
import { NAVIGATION } from "./navigation.ts";

export function Navigation({ paths }: { paths: Paths }) {
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
                  <PlainLink
                    to={to(paths)}
                    className={classes["item"]}
                    activeProps={{ "data-active": true, "aria-current": "page" }}
                  >
                    <Picture size={19} stroke={1.6} aria-hidden />
                    {label}
                  </PlainLink>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </Stack>
    </ScrollArea>
  );
}
