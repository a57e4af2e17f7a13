import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyId } from "../ui/copy/CopyId.tsx";
import { Facts } from "../ui/layout/Facts.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { KINDS } from "./endpoint-words.ts";

export function SettingsSection({ endpoint }: { endpoint: AppEndpoint }) {
  const { format } = useOrganization();
  const { id, kind, url, description, createdAt } = endpoint;
  return (
    <Section title="Settings" description={kind === "webhook" ? undefined : CHAT}>
      <Facts
        facts={[
          ["URL", <code key="url">{url}</code>],
          ["Type", KINDS[kind].name],
          ["Description", description],
          ["Added", format.dateTime(createdAt)],
          ["Endpoint ID", <CopyId key="id" value={id} label="Copy endpoint ID" />],
        ]}
      />
    </Section>
  );
}

const CHAT = "Anyone with the full URL can post to the channel, so only part of it is shown.";
