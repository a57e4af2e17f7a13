import { Text } from "@mantine/core";
import { IconMapPinQuestion } from "@tabler/icons-react";
import { HOME } from "#contract/app/entry-pages.ts";
import { EntryFrame } from "../entry/EntryFrame.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";

const TITLE = "There is nothing here";

/** An address inside an organization that leads nowhere. */
export function NotFound() {
  return (
    <Page title={TITLE} width="narrow">
      <EmptyState
        icon={IconMapPinQuestion}
        title="This address leads nowhere"
        action={<ButtonLink to={HOME}>Go to the start</ButtonLink>}
      >
        What it led to may have been removed, or it was copied only in part.
      </EmptyState>
    </Page>
  );
}

/** The same outside of any, or in one that whoever is signed in does not belong to. */
export function Lost() {
  return (
    <EntryFrame title={TITLE}>
      <Text size="sm">
        This address leads nowhere, or to an organization that you do not belong to with the account you use now.
      </Text>
      <ButtonLink to={HOME}>Go to the start</ButtonLink>
    </EntryFrame>
  );
}
