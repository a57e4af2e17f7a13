import { Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Dimension } from "#contract/analytics/dimensions.ts";
import { FUNNEL_STEPS } from "#contract/analytics/steps.ts";
import type { FunnelSplit } from "#contract/app/analytics.ts";
import { splitQuery } from "../../api/analytics.ts";
import { formatCount, formatRate, pluralize } from "../../format.ts";
import { useIsPhone } from "../../hooks/screen-width.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { Loaded } from "../../ui/states/Loaded.tsx";
import { toFlag, toKeyName } from "../breakdowns/dimension-words.ts";
import type { Parameters } from "../report-state.ts";
import { findOutlier, VISITS_MIN } from "./compare-drops.ts";
import { AFTER_STEP, findWorstStep, STEP_NAMES } from "./Funnel.tsx";
import classes from "./SplitFunnel.module.css";

type SplitProps = { dimension: Dimension; scope: Parameters; widgetNames: ReadonlyMap<string, string> };
type Group = FunnelSplit["groups"][number];

export function SplitFunnel({ dimension, scope, widgetNames }: SplitProps) {
  const { id } = useOrganization();
  const isPhone = useIsPhone();
  const split = useQuery(splitQuery(id, { ...scope, dimension }));
  const nameOf = ({ key, label }: Group) => label ?? toKeyName(dimension, key, widgetNames);
  return (
    <Loaded query={split} rows={6}>
      {({ groups }) =>
        groups.length === 0 ? (
          <Text c="dimmed" size="sm">
            No data for this period.
          </Text>
        ) : (
          <>
            <Table.ScrollContainer minWidth={isPhone ? 0 : 220 + groups.length * 88} type="native" tabIndex={0}>
              <Table data-figures className={classes["table"]} aria-label="Funnel side by side" verticalSpacing={8}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Step</Table.Th>
                    {groups.map((group) => (
                      <Table.Th key={group.key}>
                        {dimension === "country" ? `${toFlag(group.key)} ` : ""}
                        {nameOf(group)}
                        {isSmall(group) && <div className={classes["few"]}>few visits</div>}
                      </Table.Th>
                    ))}
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {FUNNEL_STEPS.map((step) => (
                    <Table.Tr key={step}>
                      <Table.Td>{STEP_NAMES[step]}</Table.Td>
                      {groups.map((group) => (
                        <Step key={group.key} group={group} visits={group.funnel[step]} />
                      ))}
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
            <ul className={classes["worst"]}>
              {groups.map((group) => {
                const others = groups.filter((each) => each !== group).map(({ funnel }) => funnel);
                const sentence = describeDrop(group.funnel, others);
                return sentence && <li key={group.key}>{`${nameOf(group)}: ${sentence}`}</li>;
              })}
            </ul>
          </>
        )
      }
    </Loaded>
  );
}

function isSmall({ funnel }: Pick<Group, "funnel">): boolean {
  return funnel.widget_viewed < VISITS_MIN;
}

/** Where a group loses more visits than the others, or else most of its own. */
function describeDrop(funnel: Group["funnel"], others: readonly Group["funnel"][]): string | null {
  if (isSmall({ funnel })) return `only ${pluralize(funnel.widget_viewed, "visit")}, too few to compare.`;
  const outlier = findOutlier(funnel, others);
  if (outlier)
    return `${formatRate(outlier.rate)} leave after ${AFTER_STEP[outlier.step]}, compared with ${formatRate(outlier.othersRate)} of the rest.`;
  const worst = findWorstStep(funnel);
  if (!worst) return null;
  return `biggest drop-off: ${formatRate(worst.lost / funnel[worst.step])} leave after ${AFTER_STEP[worst.step]}.`;
}

function Step({ group, visits }: { group: Group; visits: number }) {
  const viewed = group.funnel.widget_viewed;
  const share = viewed > 0 ? visits / viewed : 0;
  return (
    <Table.Td data-few={isSmall(group)}>
      <div className={classes["rate"]}>{viewed > 0 ? formatRate(share) : "–"}</div>
      <div className={classes["track"]} aria-hidden>
        <div className={classes["bar"]} style={{ width: `${share * 100}%` }} />
      </div>
      <div className={classes["count"]}>{formatCount(visits)}</div>
    </Table.Td>
  );
}
