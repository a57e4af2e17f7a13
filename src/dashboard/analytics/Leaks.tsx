import { SimpleGrid, Text } from "@mantine/core";
import { IconCalendarOff, IconCircleCheck, IconPlugConnectedX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { formatCount, formatRate } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import classes from "./Leaks.module.css";

/** Visitors who wanted to book and could not, with what can be done about it. */
export function Leaks({ totals }: { totals: AppAnalytics["totals"] }) {
  const { paths } = useOrganization();
  const { views, noAvailability, failed, bookings } = totals;
  return (
    <Section title="Leaks" description="Visitors who wanted to book and could not.">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Leak
          icon={<IconCalendarOff size={22} stroke={1.6} aria-hidden />}
          title="Found no free times"
          count={noAvailability}
          share={views > 0 ? `${formatRate(noAvailability / views)} of views` : ""}
          none="Everybody who looked found a free time."
        >
          Open more times in your scheduling system, or offer the service with more people. Times far ahead count too: a
          calendar that ends next week looks full.
        </Leak>
        <Leak
          icon={<IconPlugConnectedX size={22} stroke={1.6} aria-hidden />}
          title="Bookings that failed"
          count={failed}
          share={failed + bookings > 0 ? `${formatRate(failed / (failed + bookings))} of attempts` : ""}
          none="Every booking that was sent went through."
        >
          The time was taken meanwhile, or the scheduling system did not answer. If it happens often, look at your{" "}
          <TextLink to={paths.connections} underline="always">
            connections
          </TextLink>
          .
        </Leak>
      </SimpleGrid>
    </Section>
  );
}

type LeakProps = { icon: ReactNode; title: string; count: number; share: string; none: string; children: ReactNode };

function Leak({ icon, title, count, share, none, children }: LeakProps) {
  const isDry = count === 0;
  return (
    <div className={classes["leak"]} data-dry={isDry}>
      <div className={classes["icon"]}>{isDry ? <IconCircleCheck size={22} stroke={1.6} aria-hidden /> : icon}</div>
      <div className={classes["body"]}>
        <div className={classes["head"]}>
          <Text size="sm" fw={500}>
            {title}
          </Text>
          <div className={classes["figures"]}>
            <span className={classes["count"]}>{formatCount(count)}</span>
            {!isDry && <span className={classes["share"]}>{share}</span>}
          </div>
        </div>
        <Text size="sm" c="dimmed" mt={4}>
          {isDry ? none : children}
        </Text>
      </div>
    </div>
  );
}
