import { Text } from "@mantine/core";
import { IconMapPinQuestion } from "@tabler/icons-react";
import { Outlet } from "@tanstack/react-router";
import { DASHBOARD_ADDRESS } from "#contract/app/addresses.ts";
import { EntryFrame } from "../entry/EntryFrame.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { ErrorState } from "../ui/states/Loaded.tsx";
import { SessionEnd } from "./SessionEnd.tsx";

export function Root() {
  return (
    <>
      <SessionEnd />
      <Outlet />
    </>
  );
}

export function Crash({ error }: { error: unknown }) {
  return (
    <Page title="Something went wrong" width="narrow">
      <ErrorState
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => window.location.reload()}
      />
    </Page>
  );
}

const TITLE = "Page not found";

/** For unknown addresses inside an organization. */
export function NotFound() {
  return (
    <Page title={TITLE} width="narrow">
      <EmptyState
        icon={IconMapPinQuestion}
        title="This page doesn’t exist"
        action={<ButtonLink to={DASHBOARD_ADDRESS}>Go to dashboard</ButtonLink>}
      >
        It may have been deleted, or the link is incomplete.
      </EmptyState>
    </Page>
  );
}

/** For unknown addresses elsewhere, and for organizations that the person is not a member of. */
export function Lost() {
  return (
    <EntryFrame title={TITLE}>
      <Text size="sm">This page doesn’t exist, or you don’t have access to its organization with this account.</Text>
      <ButtonLink to={DASHBOARD_ADDRESS}>Go to dashboard</ButtonLink>
    </EntryFrame>
  );
}
