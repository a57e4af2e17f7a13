import { Anchor } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { keysQuery } from "../api/queries.ts";
import { can as canAs } from "../can.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { CreateKeyDialog } from "./CreateKeyDialog.tsx";
import { KeyTable } from "./KeyTable.tsx";

export function ApiKeysPage() {
  const { id, can, plan } = useOrganization();
  const verdict = can("listKeys");
  const keys = useQuery({ ...keysQuery(id), enabled: verdict.isAllowed });
  const [isCreating, setCreating] = useState(false);
  const createButton = (
    <ActionButton
      verdict={can("createKey")}
      leftSection={<IconPlus size={18} stroke={1.6} />}
      onClick={() => setCreating(true)}
    >
      Create key
    </ActionButton>
  );
  const hasSome = keys.data !== undefined && keys.data.data.length > 0;
  return (
    <Page title="API keys" description={DESCRIPTION} actions={hasSome && createButton}>
      <LockedFeature verdict={verdict} title="You don’t have access to API keys" />
      {verdict.isAllowed && (
        <>
          <LockedFeature
            verdict={canAs({ role: "owner", plan }, "createKey")}
            title="Your plan doesn’t include the read API"
          >
            Your keys don’t work on this plan. You can still revoke them.
          </LockedFeature>
          <StaleNotice query={keys} />
          <Section
            title="Keys"
            description="Use a separate key for each application, so you can revoke one without affecting the others."
            isFlush
          >
            <Loaded query={keys} rows={3}>
              {({ data }) =>
                data.length > 0 ? (
                  <KeyTable keys={data} />
                ) : (
                  <EmptyState icon={IconKey} title="No API keys yet" action={createButton}>
                    You choose what each key can read, and from where.
                  </EmptyState>
                )
              }
            </Loaded>
          </Section>
        </>
      )}
      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

const DESCRIPTION = (
  <>
    Keys let your software read widgets, bookings and analytics through the{" "}
    <Anchor href="/docs/read-api" target="_blank" underline="always" inherit>
      read API
    </Anchor>
    .
  </>
);
