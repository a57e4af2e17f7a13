import { SimpleGrid, Text } from "@mantine/core";
import { IconCalendarOff, IconCircleCheck, IconPlugConnectedX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { formatCount, formatRate } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import classes from "./LostBookings.module.css";

/** Visitors who tried to book but couldn't, with what the business can do about it. */
export function LostBookings({ totals }: { totals: AppAnalytics["totals"] }) {
  const { paths } = useOrganization();
  const { views, noAvailability, failed, bookings } = totals;
  return (
    <Section title="Lost bookings" description="Visitors who tried to book but couldn’t.">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Reason
          icon={<IconCalendarOff size={22} stroke={1.6} aria-hidden />}
          title="No times available"
          count={noAvailability}
          share={views > 0 ? `${formatRate(noAvailability / views)} of views` : ""}
          none="Every visitor who looked found an available time."
        >
          Add availability or staff in your scheduling system. Also check how far ahead people can book: a calendar that
          ends next week soon looks full.
        </Reason>
        <Reason
          icon={<IconPlugConnectedX size={22} stroke={1.6} aria-hidden />}
          title="Failed bookings"
          count={failed}
          share={failed + bookings > 0 ? `${formatRate(failed / (failed + bookings))} of attempts` : ""}
          none="Every booking went through."
        >
          Someone else took the slot, or the scheduling system didn’t respond. If this happens often, check your{" "}
          <TextLink to={paths.connections} underline="always">
            connections
          </TextLink>
          .
        </Reason>
      </SimpleGrid>
    </Section>
  );
}

type ReasonProps = { icon: ReactNode; title: string; count: number; share: string; none: string; children: ReactNode };

function Reason({ icon, title, count, share, none, children }: ReasonProps) {
  const isNone = count === 0;
  return (
    <div className={classes["reason"]} data-none={isNone}>
      <div className={classes["icon"]}>{isNone ? <IconCircleCheck size={22} stroke={1.6} aria-hidden /> : icon}</div>
      <div className={classes["body"]}>
        <div className={classes["head"]}>
          <Text size="sm" fw={500}>
            {title}
          </Text>
          <div className={classes["figures"]}>
            <span className={classes["count"]}>{formatCount(count)}</span>
            {!isNone && <span className={classes["share"]}>{share}</span>}
          </div>
        </div>
        <Text size="sm" c="dimmed" mt={4}>
          {isNone ? none : children}
        </Text>
      </div>
    </div>
  );
}
