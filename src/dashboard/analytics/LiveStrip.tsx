import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { LiveView } from "#contract/app/analytics.ts";
import { liveQuery } from "../api/analytics.ts";
import { formatRelative, pluralize } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { toFlag, toKeyName } from "./breakdowns/dimension-words.ts";
import classes from "./LiveStrip.module.css";

const SHOWN = 3;

/** Visits in the last minutes, and bookings as they happen. Refreshes by itself while the tab is visible. */
export function LiveStrip({ widgetNames }: { widgetNames: ReadonlyMap<string, string> }) {
  const { id } = useOrganization();
  const { data } = useQuery(liveQuery(id));
  return (
    <section className={classes["strip"]} aria-label="Live">
      <Group gap="sm" wrap="nowrap">
        <span className={classes["dot"]} data-active={(data?.visits5Minutes ?? 0) > 0} aria-hidden />
        <Text size="sm" component="p" m={0}>
          <strong>{data ? pluralize(data.visits5Minutes, "visit") : "– visits"}</strong> active in the last 5 minutes
        </Text>
      </Group>
      <Text size="sm" c="dimmed" component="p" m={0} className={classes["hour"] ?? ""}>
        {data
          ? `${pluralize(data.visits60Minutes, "visit")} and ${pluralize(data.bookings60Minutes, "booking")} in the last hour`
          : " "}
      </Text>
      {data && data.bookings.length > 0 && (
        <ul className={classes["bookings"]} aria-live="polite">
          {data.bookings.slice(0, SHOWN).map((booking) => (
            <li key={booking.id}>
              {describe(booking, widgetNames)} <span className={classes["when"]}>{formatRelative(booking.at)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function describe(
  { service, country, channel, widget }: LiveView["bookings"][number],
  names: ReadonlyMap<string, string>,
) {
  const what = service ?? toKeyName("widget", widget, names);
  return `${toFlag(country)} ${what} · ${channel}`.trim();
}
