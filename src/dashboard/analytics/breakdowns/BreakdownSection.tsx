import { Button, VisuallyHidden } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { AppList } from "#contract/app/analytics.ts";
import type { Dimension } from "#contract/dimensions.ts";
import { formatCount } from "../../format.ts";
import { Section } from "../../ui/layout/Section.tsx";
import classes from "./BreakdownTable.module.css";
import { BreakdownTable, type Filtering } from "./BreakdownTable.tsx";
import { DIMENSION_WORDS } from "./dimension-words.ts";

const SHOWN_FIRST = 8;

/** Loaded when first shown, because the outlines of the countries are large. */
const WorldMap = lazy(async () => ({ default: (await import("../charts/WorldMap.tsx")).WorldMap }));

type SectionProps = {
  dimension: Dimension;
  list: AppList;
  filtering: Filtering;
  onShowAll?: (dimension: Dimension) => void;
};

export function BreakdownSection({ dimension, list, filtering, onShowAll }: SectionProps) {
  const { title, description } = DIMENSION_WORDS[dimension];
  return (
    <Section title={title} description={description} isFlush>
      {dimension === "country" && list.rows.length > 0 && (
        <Suspense fallback={<div className={classes["map"]} />}>
          <WorldMap rows={list.rows} filtering={filtering} />
        </Suspense>
      )}
      <BreakdownTable
        dimension={dimension}
        rows={list.rows.slice(0, SHOWN_FIRST)}
        sort="bookings"
        filtering={filtering}
      />
      {list.count > 0 && onShowAll && (
        <div className={classes["more"]}>
          <Button variant="subtle" size="compact-sm" aria-haspopup="dialog" onClick={() => onShowAll(dimension)}>
            Show all{list.count > SHOWN_FIRST && ` ${formatCount(list.count)}`}
            <VisuallyHidden> {title.toLowerCase()}</VisuallyHidden>
          </Button>
        </div>
      )}
    </Section>
  );
}
