import { SimpleGrid, Text } from "@mantine/core";
import { IconCalendarOff, IconCircleCheck, IconPlugConnectedX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { formatCount, formatRate } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import classes from "./LostBookings.module.css";
import { describeNoLoss, type Loss } from "./report-words.ts";

type LostBookingsProps = {
  totals: AppAnalytics["totals"];
  /** The filters leave out visits that didn't book. */
  isBookedOnly: boolean;
};

export function LostBookings({ totals, isBookedOnly }: LostBookingsProps) {
  return (
    <Section title="Lost bookings" description="Visitors who tried to book but couldn’t.">
      {isBookedOnly ? (
        <Text size="sm" c="dimmed">
          Remove the service and lead time filters to see lost bookings.
        </Text>
      ) : (
        <Reasons totals={totals} />
      )}
    </Section>
  );
}

function Reasons({ totals }: Pick<LostBookingsProps, "totals">) {
  const { paths } = useOrganization();
  const { views, noAvailability, failed, bookings } = totals;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Reason
        icon={<IconCalendarOff size={22} stroke={1.6} aria-hidden />}
        title="No times available"
        count={noAvailability}
        of={views}
        unit="views"
      >
        Add availability or staff in your scheduling system. Also check how far ahead people can book: a calendar that
        ends next week soon looks full.
      </Reason>
      <Reason
        icon={<IconPlugConnectedX size={22} stroke={1.6} aria-hidden />}
        title="Failed bookings"
        count={failed}
        of={failed + bookings}
        unit="attempts"
      >
        Someone else took the slot, or the scheduling system didn’t respond. If this happens often, check your{" "}
        <TextLink to={paths.connections} underline="always">
          connections
        </TextLink>
        .
      </Reason>
    </SimpleGrid>
  );
}

type ReasonProps = Loss & { icon: ReactNode; title: string; children: ReactNode };

function Reason({ icon, title, children, ...loss }: ReasonProps) {
  const { count, of, unit } = loss;
  const none = describeNoLoss(loss);
  return (
    <div className={classes["reason"]} data-success={none?.isSuccess}>
      <div className={classes["icon"]}>
        {none?.isSuccess ? <IconCircleCheck size={22} stroke={1.6} aria-hidden /> : icon}
      </div>
      <div className={classes["body"]}>
        <div className={classes["head"]}>
          <Text size="sm" fw={500}>
            {title}
          </Text>
          <div className={classes["figures"]}>
            <span className={classes["count"]}>{formatCount(count)}</span>
            {!none && of > 0 && (
              <span className={classes["share"]}>
                {formatRate(count / of)} of {unit}
              </span>
            )}
          </div>
        </div>
        <Text size="sm" c="dimmed" mt={4}>
          {none ? none.text : children}
        </Text>
      </div>
    </div>
  );
}
