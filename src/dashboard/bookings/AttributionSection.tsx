import { Text } from "@mantine/core";
import type { Attribution } from "#contract/analytics/attribution.ts";
import type { ClickIdField } from "#contract/analytics/attribution-fields.ts";
import { formatCount } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { type Fact, Facts, Section } from "../ui/layout/Section.tsx";

/** Raw values in their order of display; identifiers last. */
const RAW_NAMES = {
  landingPage: "Landing page",
  referrer: "Referrer",
  pageUrl: "Booked on",
  currentPage: "Last page",
  utmSource: "utm_source",
  utmMedium: "utm_medium",
  utmCampaign: "utm_campaign",
  utmTerm: "utm_term",
  utmContent: "utm_content",
  gclid: "gclid (Google Ads)",
  gbraid: "gbraid (Google Ads)",
  wbraid: "wbraid (Google Ads)",
  fbclid: "fbclid (Meta)",
  msclkid: "msclkid (Microsoft)",
  liFatId: "li_fat_id (LinkedIn)",
  ttclid: "ttclid (TikTok)",
  gadSource: "gad_source (Google)",
  gadCampaignid: "gad_campaignid (Google)",
  gaClientId: "Google Analytics client ID",
  fbp: "fbp (Meta)",
  fbc: "fbc (Meta)",
} as const satisfies Partial<Record<keyof Attribution, string>> & Record<ClickIdField, string>;

export function AttributionSection({ attribution }: { attribution: Attribution }) {
  const { format } = useOrganization();
  const { source, medium, campaign, channel, firstSeenAt, touches } = attribution;
  const facts: Fact[] = [
    ["Channel", channel],
    ["Source / medium", [source, medium].filter(Boolean).join(" / ")],
    ["Campaign", campaign],
    ["First seen", firstSeenAt && format.dateTime(firstSeenAt)],
    ["Touchpoints", touches !== undefined && formatCount(touches)],
    ...Object.entries(RAW_NAMES).map(([name, label]): Fact => [label, attribution[name as keyof typeof RAW_NAMES]]),
  ];
  return (
    <Section title="Attribution">
      {facts.some(([, value]) => Boolean(value)) ? (
        <Facts facts={facts} />
      ) : (
        // Only imported bookings can lack a source: those from widgets are always classified.
        <Text size="sm" c="dimmed">
          This imported booking has no source.
        </Text>
      )}
    </Section>
  );
}
