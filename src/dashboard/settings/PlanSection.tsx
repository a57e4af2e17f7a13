import { Badge, Box, List, Text, ThemeIcon } from "@mantine/core";
import { IconCheck, IconLock } from "@tabler/icons-react";
import { type Feature, planIncludes } from "#contract/plans.ts";
import { describePlanLimit } from "../can.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Section } from "../ui/layout/Section.tsx";
import { PlanCommand } from "../ui/states/LockedFeature.tsx";

const LARGEST_PLAN = "business";

const FEATURES: readonly { feature: Feature; name: string; meaning: string }[] = [
  { feature: "webhooks", name: "Webhooks", meaning: "Each booking is sent to your systems, Teams or Slack." },
  { feature: "csvExport", name: "CSV export", meaning: "Download all stored bookings." },
  { feature: "readApi", name: "Read API", meaning: "Read widgets, bookings and analytics from your own software." },
];

export function PlanSection() {
  const { details, plan, format } = useOrganization();
  return (
    <Section
      title="Plan"
      description="The operator of this server can change your plan."
      guide={{ to: "bookings#plans", about: "plans" }}
      actions={<Badge size="lg">{details.plan.name}</Badge>}
    >
      <List spacing="sm" size="sm" center pl={0} listStyleType="none" styles={{ itemLabel: { lineHeight: 1.45 } }}>
        <Row name="Analytics and stored bookings" isIncluded>
          See where bookings come from, and keep a copy of each.
        </Row>
        {FEATURES.map(({ feature, name, meaning }) => (
          <Row key={feature} name={name} isIncluded={planIncludes(plan, feature)}>
            {planIncludes(plan, feature) ? meaning : describePlanLimit(feature)}
          </Row>
        ))}
      </List>
      <Text size="sm" mt="lg">
        Bookings and analytics are kept for <b>{details.plan.retention}</b>, currently back to{" "}
        <b>{format.date(details.plan.keptSince)}</b>.
      </Text>
      {plan !== LARGEST_PLAN && (
        <Box mt="lg">
          <PlanCommand plan={LARGEST_PLAN} />
        </Box>
      )}
    </Section>
  );
}

function Row({ name, isIncluded, children }: { name: string; isIncluded: boolean; children: string }) {
  const Icon = isIncluded ? IconCheck : IconLock;
  const icon = (
    <ThemeIcon color={isIncluded ? "green" : "gray"} variant="light" size={24} radius="xl">
      <Icon size={14} aria-label={isIncluded ? "Included" : "Not included"} />
    </ThemeIcon>
  );
  return (
    <List.Item icon={icon}>
      <Text span inherit {...(isIncluded ? {} : { c: "dimmed" })}>
        <b>{name}</b>. {children}
      </Text>
    </List.Item>
  );
}
