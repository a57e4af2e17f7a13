import {
  Avatar,
  type AvatarProps,
  Menu,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from "@mantine/core";
import {
  IconCheck,
  IconDeviceDesktop,
  IconLogout,
  IconMoon,
  IconPlus,
  IconSelector,
  IconSun,
  IconUserCircle,
} from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { ComponentPropsWithRef } from "react";
import type { Me } from "#contract/app/account.ts";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { PLAN_TERMS } from "#contract/plans.ts";
import { call } from "../api/call.ts";
import { announceSignOut } from "../api/session-end.ts";
import { toInitials } from "../format.ts";
import { useNarrowSidebar } from "../hooks/screen-width.ts";
import { useAction } from "../hooks/use-action.ts";
import { NEW_ORGANIZATION, type Paths, pathsOf } from "../paths.ts";
import classes from "./Switcher.module.css";

const SCHEMES = [
  { scheme: "auto", label: "System", icon: IconDeviceDesktop },
  { scheme: "light", label: "Light", icon: IconSun },
  { scheme: "dark", label: "Dark", icon: IconMoon },
] as const;

export function PersonMenu({ me, paths }: { me: Me; paths: Paths }) {
  const navigate = useNavigate();
  const isNarrow = useNarrowSidebar();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  return (
    <Menu width={isNarrow ? 240 : "target"} position="top-start" shadow="md" withinPortal={false}>
      <Menu.Target>
        <Target avatar={{}} what="Your account" name={me.user.name} note={me.user.email} data-plain />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconUserCircle size={16} />} onClick={() => void navigate({ to: paths.profile })}>
          Profile
        </Menu.Item>
        <Menu.Divider role="separator" />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot stand in a menu */}
        <div role="group" aria-label="Appearance">
          <Menu.Label aria-hidden>Appearance</Menu.Label>
          <Menu.RadioGroup
            value={colorScheme}
            onChange={(scheme) => setColorScheme(scheme as (typeof SCHEMES)[number]["scheme"])}
          >
            {SCHEMES.map(({ scheme, label, icon: Icon }) => (
              <Menu.RadioItem key={scheme} value={scheme} rightSection={<Icon size={16} aria-hidden />}>
                {label}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
        </div>
        <Menu.Divider role="separator" />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

type TargetProps = ComponentPropsWithRef<"button"> & {
  avatar: Pick<AvatarProps, "color" | "radius">;
  what: string;
  name: string;
  note: string;
};

function Target({ avatar, what, name, note, ...props }: TargetProps) {
  return (
    <UnstyledButton {...props} className={classes["target"]}>
      <Avatar size={32} aria-hidden {...avatar}>
        {toInitials(name)}
      </Avatar>
      <span className={classes["texts"]}>
        <VisuallyHidden>{what}: </VisuallyHidden>
        <Text size="sm" fw={600} truncate>
          {name}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {note}
        </Text>
      </span>
      <IconSelector size={18} stroke={1.6} aria-hidden />
    </UnstyledButton>
  );
}

/** Reloads the page, so that the Back button shows nothing of the person who signed out. */
export function useSignOut() {
  return useAction({
    // Not in `onDone`: also someone who has gone to another screen meanwhile is signed out.
    run: async () => {
      await call("signOut", { body: {} });
      announceSignOut();
      window.location.assign(ENTRY_PAGES.signIn);
    },
  });
}

export function OrganizationSwitcher({ me, current }: { me: Me; current: Me["organizations"][number] }) {
  const navigate = useNavigate();
  const isNarrow = useNarrowSidebar();
  return (
    <Menu width={isNarrow ? 240 : "target"} position="bottom-start" shadow="md" withinPortal={false}>
      <Menu.Target>
        <Target
          avatar={{ color: "petrol", radius: "md" }}
          what="Organization"
          name={current.name}
          note={`${PLAN_TERMS[current.plan].name} plan`}
        />
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
