import { IconUserPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { GuideLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { InvitationsSection } from "./InvitationsSection.tsx";
import { InviteDialog } from "./InviteDialog.tsx";
import { MembersSection } from "./MembersSection.tsx";

export function MembersPage() {
  const { name, can } = useOrganization();
  const [isInviting, setInviting] = useState(false);
  const verdict = can("listMembers");
  return (
    <Page
      title="Members"
      description={
        <>
          People with access to {name}. <GuideLink to="bookings#roles" about="roles" />
        </>
      }
      actions={
        <ActionButton
          verdict={can("invite")}
          leftSection={<IconUserPlus size={18} stroke={1.6} />}
          onClick={() => setInviting(true)}
        >
          Invite member
        </ActionButton>
      }
    >
      <LockedFeature verdict={verdict} title="You don’t have access to members" />
      {verdict.isAllowed && (
        <>
          <MembersSection />
          <InvitationsSection />
          <InviteDialog isOpen={isInviting} onClose={() => setInviting(false)} />
        </>
      )}
    </Page>
  );
}
