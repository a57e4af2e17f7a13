import { Text } from "@mantine/core";
import { IconMapPinQuestion } from "@tabler/icons-react";
import { HOME } from "#contract/app/entry-pages.ts";
import { EntryFrame } from "../entry/EntryFrame.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";

const TITLE = "Page not found";

/** For unknown addresses inside an organization. */
export function NotFound() {
  return (
    <Page title={TITLE} width="narrow">
      <EmptyState
        icon={IconMapPinQuestion}
        title="This page doesn’t exist"
        action={<ButtonLink to={HOME}>Go to dashboard</ButtonLink>}
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
      <ButtonLink to={HOME}>Go to dashboard</ButtonLink>
    </EntryFrame>
  );
}
