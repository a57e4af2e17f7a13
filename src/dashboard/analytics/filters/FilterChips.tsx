import { Button, Group, UnstyledButton } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { DIMENSION_WORDS, toKeyName } from "../breakdowns/dimension-words.ts";
import type { ChangeState, ReportState } from "../report-state.ts";
import classes from "./FilterChips.module.css";
import { FILTER_DEFAULTS, listFilters, negateFilter, type ShownFilter, toggleFilter } from "./filter-state.ts";

type ChipsProps = { state: ReportState; change: ChangeState; widgetNames: ReadonlyMap<string, string> };

/** The filters as removable chips. A click on a chip turns "is" into "is not". */
export function FilterChips({ state, change, widgetNames }: ChipsProps) {
  const filters = listFilters(state);
  if (filters.length === 0) return null;
  return (
    <Group gap="xs" mb="lg" role="group" aria-label="Filters">
      {filters.map((filter) => (
        <Chip
          key={`${filter.dimension} ${filter.isNegated} ${filter.key}`}
          filter={filter}
          name={toKeyName(filter.dimension, filter.key, widgetNames)}
          onNegate={() => change(negateFilter(state, filter))}
          onRemove={() => change(toggleFilter(state, filter))}
        />
      ))}
      {filters.length > 1 && (
        <Button variant="subtle" size="compact-sm" onClick={() => change(FILTER_DEFAULTS)}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

type ChipProps = { filter: ShownFilter; name: string; onNegate: () => void; onRemove: () => void };

function Chip({ filter, name, onNegate, onRemove }: ChipProps) {
  const { isNegated } = filter;
  const dimension = DIMENSION_WORDS[filter.dimension].name;
  return (
    <span className={classes["chip"]} data-negated={isNegated}>
      <UnstyledButton
        className={classes["text"]}
        onClick={onNegate}
        title={isNegated ? `Show only ${name}` : `Leave out ${name}`}
      >
        {dimension} <span className={classes["verb"]}>{isNegated ? "is not" : "is"}</span> <strong>{name}</strong>
      </UnstyledButton>
      <UnstyledButton
        className={classes["remove"]}
        onClick={onRemove}
        aria-label={`Remove filter ${dimension} ${name}`}
      >
        <IconX size={14} stroke={2} aria-hidden />
      </UnstyledButton>
    </span>
  );
}
