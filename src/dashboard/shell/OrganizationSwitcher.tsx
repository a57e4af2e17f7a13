import { Avatar, Menu, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { IconCheck, IconPlus, IconSelector } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { Me } from "#contract/app/account.ts";
import { PLAN_TERMS } from "#contract/plans.ts";
import { toInitials } from "../format.ts";
import { useNarrowSidebar } from "../hooks/screen-width.ts";
import { NEW_ORGANIZATION, pathsOf } from "../paths.ts";
import classes from "./Switcher.module.css";

export function OrganizationSwitcher({ me, current }: { me: Me; current: Me["organizations"][number] }) {
  const navigate = useNavigate();
  const isNarrow = useNarrowSidebar();
  return (
    <Menu width={isNarrow ? 240 : "target"} position="bottom-start" shadow="md" withinPortal={false}>
      <Menu.Target>
        <UnstyledButton className={classes["target"]}>
          <Avatar color="petrol" size={32} radius="md" aria-hidden>
            {toInitials(current.name)}
          </Avatar>
          <span className={classes["texts"]}>
            <VisuallyHidden>Organization: </VisuallyHidden>
            <Text size="sm" fw={600} truncate>
              {current.name}
            </Text>
            <Text size="xs" c="dimmed">
              {PLAN_TERMS[current.plan].name} plan
            </Text>
          </span>
          <IconSelector size={18} stroke={1.6} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label aria-hidden>Organizations</Menu.Label>
        {me.organizations.map((each) => (
          <Menu.Item
            key={each.id}
            onClick={() => void navigate({ to: pathsOf(each.id).start })}
            rightSection={each.id === current.id && <IconCheck size={16} aria-label="current" />}
          >
            {each.name}
          </Menu.Item>
        ))}
        {me.canCreateOrganization && (
          <>
            <Menu.Divider role="separator" />
            <Menu.Item leftSection={<IconPlus size={16} />} onClick={() => void navigate({ to: NEW_ORGANIZATION })}>
              Create organization
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
