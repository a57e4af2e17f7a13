import { IconPlugConnected, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { connectionsQuery } from "../api/queries.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { ConnectionDialog } from "./ConnectionDialog.tsx";
import { ConnectionTable } from "./ConnectionTable.tsx";

/** `add` opens the dialog; other screens link to it. `widget`: the widget to take live afterwards. */
const DEFAULTS = { add: "", widget: "" };

export function ConnectionsPage() {
  const { id, can, paths } = useOrganization();
  const navigate = useNavigate();
  const verdict = can("listConnections");
  const connections = useQuery({ ...connectionsQuery(id), enabled: verdict.isAllowed });
  const [{ add, widget }, change] = useUrlState(DEFAULTS);
  const goLive = () => void navigate({ to: paths.widget(widget), search: () => ({ mode: "go-live" }) });
  const addButton = (
    <ActionButton
      verdict={can("addConnection")}
      leftSection={<IconPlus size={18} stroke={1.6} />}
      onClick={() => change({ add: "1" })}
    >
      Add connection
    </ActionButton>
  );
  const hasSome = connections.data !== undefined && connections.data.data.length > 0;
  return (
    <Page
      title="Connections"
      description="The scheduling systems your widgets book into."
      guide={{ to: "scheduling-systems", about: "scheduling systems" }}
      actions={hasSome && addButton}
    >
      <LockedFeature verdict={verdict} title="You don’t have access to connections" />
      {verdict.isAllowed && (
        <>
          <StaleNotice query={connections} />
          <Section
            title="Scheduling systems"
            description="Bookflow reads services and available times and makes bookings. Secrets are encrypted and never shown."
            isFlush
          >
            <Loaded query={connections} rows={2}>
              {({ data }) =>
                data.length > 0 ? (
                  <ConnectionTable connections={data} />
                ) : (
                  <EmptyState icon={IconPlugConnected} title="No connections yet" action={addButton}>
                    Until you connect Microsoft Bookings, Cal.com or Calendly, your widgets are in test mode.
                  </EmptyState>
                )
              }
            </Loaded>
          </Section>
        </>
      )}
      <ConnectionDialog
        connection={null}
        isOpen={add !== "" && can("addConnection").isAllowed}
        onClose={() => change(DEFAULTS, { replace: true })}
        next={widget === "" ? undefined : { label: "Continue to go live", go: goLive }}
      />
    </Page>
  );
}
