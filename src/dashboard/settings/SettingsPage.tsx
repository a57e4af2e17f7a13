import { useOrganization } from "../shell/use-organization.ts";
import { Page } from "../ui/layout/Page.tsx";
import { DeleteSection } from "./DeleteSection.tsx";
import { GeneralSection } from "./GeneralSection.tsx";
import { LeaveSection } from "./LeaveSection.tsx";
import { LogoSection } from "./LogoSection.tsx";
import { PlanSection } from "./PlanSection.tsx";
import { PrivacySection } from "./PrivacySection.tsx";

export function SettingsPage() {
  const { name } = useOrganization();
  return (
    <Page title="Settings" description={`Settings for ${name}.`} width="narrow">
      <GeneralSection />
      <LogoSection />
      <PlanSection />
      <PrivacySection />
      <LeaveSection />
      <DeleteSection />
    </Page>
  );
}
