import { AppShell, Burger, Group, Skeleton, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation, useParams } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import type { Me, OrganizationShape } from "#contract/app/account.ts";
import { organizationQuery } from "../api/queries.ts";
import { can } from "../can.ts";
import { formatIn } from "../format.ts";
import { pathsOf } from "../paths.ts";
import { ErrorState } from "../ui/states/Loaded.tsx";
import { useMe } from "./AppGate.tsx";
import { Brand } from "./Brand.tsx";
import { CommandPalette } from "./CommandPalette.tsx";
import { HelpMenu } from "./HelpMenu.tsx";
import { Navigation } from "./Navigation.tsx";
import { Lost } from "./Root.tsx";
import classes from "./Shell.module.css";
import { OrganizationSwitcher, PersonMenu } from "./Switchers.tsx";
import { OrganizationContext, type OrganizationScope } from "./use-organization.ts";

type Membership = Me["organizations"][number];

export function Shell() {
  const me = useMe();
  const { organization: id } = useParams({ strict: false }) as { organization: string };
  const membership = me.organizations.find((each) => each.id === id);
  return membership ? <Frame key={id} me={me} membership={membership} /> : <Lost />;
}

function Frame({ me, membership }: { me: Me; membership: Membership }) {
  const details = useQuery(organizationQuery(membership.id));
  const [isOpen, menu] = useDisclosure(false);
  const path = useLocation({ select: ({ pathname }) => pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of screen closes the menu
  useEffect(menu.close, [path]);
  const paths = useMemo(() => pathsOf(membership.id), [membership.id]);
  return (
    <>
      <a href="#content" className={classes["skip"]}>
        Skip to content
      </a>
      <AppShell
        layout="alt"
        navbar={{ width: { base: 256, sm: 68, md: 256 }, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      >
        <section className={classes["top-bar"]} aria-label="Header">
          <Burger
            opened={isOpen}
            onClick={menu.toggle}
            size="sm"
            aria-label={isOpen ? "Close menu" : "Open menu"}
            aria-expanded={isOpen}
          />
          <Brand />
        </section>
        <AppShell.Navbar className={classes["navbar"]} aria-label="Menu">
          <Group justify="space-between" className={classes["top"]}>
            <Brand />
            <Burger opened onClick={menu.close} size="sm" hiddenFrom="sm" aria-label="Close menu" />
          </Group>
          <OrganizationSwitcher me={me} current={membership} />
          <Navigation
            organization={membership.id}
            paths={paths}
            seesConnections={can(membership, "listConnections").isAllowed}
          />
          <HelpMenu />
          <PersonMenu me={me} paths={paths} />
        </AppShell.Navbar>
        <AppShell.Main id="content" tabIndex={-1} className={classes["main"]}>
          {details.data ? (
            <Scoped me={me} membership={membership} details={details.data} />
          ) : details.error ? (
            <ErrorState error={details.error} onRetry={() => void details.refetch()} />
          ) : (
            <Stack p="xl" gap="lg" role="status" aria-label="Loading">
              <Skeleton h={32} w={220} />
              <Skeleton h={180} />
            </Stack>
          )}
        </AppShell.Main>
      </AppShell>
      <CommandPalette organization={membership.id} paths={paths} />
    </>
  );
}

function Scoped({ me, membership, details }: { me: Me; membership: Membership; details: OrganizationShape }) {
  const scope = useMemo<OrganizationScope>(() => {
    // The plan may have changed since the list of organizations was loaded.
    const member = { role: membership.role, plan: details.plan.id };
    return {
      id: membership.id,
      name: details.name,
      ...member,
      details,
      me,
      paths: pathsOf(membership.id),
      format: formatIn(details.timeZone),
      can: (action) => can(member, action),
    };
  }, [me, membership, details]);
  return (
    <OrganizationContext value={scope}>
      <Outlet />
    </OrganizationContext>
  );
}
