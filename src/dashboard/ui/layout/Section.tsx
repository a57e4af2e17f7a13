import { Box, Group, Paper, Text, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { type Guide, GuideLink } from "./links.tsx";
import classes from "./Section.module.css";

type SectionProps = {
  title: string;
  description?: ReactNode;
  /** A page of the documentation, linked after the description. */
  guide?: Guide;
  actions?: ReactNode;
  /** Without padding, for tables that reach the edges. */
  isFlush?: boolean;
  children: ReactNode;
};

export function Section({ title, description, guide, actions, isFlush = false, children }: SectionProps) {
  const id = useId();
  return (
    <Paper component="section" aria-labelledby={id} className={classes["section"]}>
      <Group justify="space-between" align="flex-start" gap="sm" className={classes["head"]}>
        <Box flex="1 1 8rem">
          <Title order={2} id={id}>
            {title}
          </Title>
          {description && (
            <Text c="dimmed" size="sm" mt={4} component="div" maw="42rem">
              {description} {guide && <GuideLink {...guide} />}
            </Text>
          )}
        </Box>
        {actions}
      </Group>
      <div className={isFlush ? classes["flush"] : classes["body"]}>{children}</div>
    </Paper>
  );
}

export type Fact = readonly [name: string, value: ReactNode];

/** Names and values, one per line; on phones the name is above the value. Empty values are left out. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  const present = facts.filter(([, value]) => value || value === 0);
  return (
    <dl className={classes["facts"]}>
      {present.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
