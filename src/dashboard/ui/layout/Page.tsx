import { Box, Group, Stack, Text, Title } from "@mantine/core";
import { IconArrowLeft } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef } from "react";
import { type Guide, GuideLink, TextLink } from "./links.tsx";
import classes from "./Page.module.css";

type PageProps = {
  title: string;
  description?: ReactNode;
  /** A page of the documentation, linked after the description. */
  guide?: Guide;
  /** The link back, such as to the list of widgets. */
  back?: { to: string; label: string; search?: Record<string, string> };
  /** Beside the title, such as a badge. */
  mark?: ReactNode;
  actions?: ReactNode;
  /** On phones, small buttons stay beside the title. */
  isCompact?: boolean;
  /** Narrow for forms and text, wide (the default) for tables and charts. */
  width?: "narrow" | "wide";
  children: ReactNode;
};

/** The frame of every screen: heading and document title. After a change of screen the heading takes the focus. */
export function Page({
  title,
  description,
  guide,
  back,
  mark,
  actions,
  isCompact = false,
  width = "wide",
  children,
}: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useDocumentTitle(title);
  useEffect(() => {
    // While the screen loaded, someone may have opened the search and begun to type.
    const isSearching = document.activeElement?.closest("[data-search-open=true]");
    if (hasShownScreen && !isSearching) heading.current?.focus({ preventScroll: true });
    hasShownScreen = true;
  }, []);
  return (
    <Box className={classes["page"]} data-width={width}>
      {back && (
        <TextLink to={back.to} search={back.search ?? {}} className={classes["back"]} size="sm" c="dimmed">
          <IconArrowLeft size={16} stroke={1.75} aria-hidden /> {back.label}
        </TextLink>
      )}
      <Group justify="space-between" align="flex-start" gap="md" className={classes["head"]} data-compact={isCompact}>
        <Stack gap={4} className={classes["titles"]}>
          <Group gap="sm" align="center">
            <Title order={1} ref={heading} tabIndex={-1} className={classes["heading"]}>
              {title}
            </Title>
            {mark}
          </Group>
          {description && (
            <Text c="dimmed" component="div" className={classes["description"]}>
              {description} {guide && <GuideLink {...guide} />}
            </Text>
          )}
        </Stack>
        {actions && (
          <Group gap="xs" className={isCompact ? undefined : classes["actions"]}>
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Box>
  );
}

/** The first screen leaves the focus alone. */
let hasShownScreen = false;

export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Bookflow`;
  }, [title]);
}
