import { Button, Group, UnstyledButton } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { type RefObject, useEffect, useRef } from "react";
import { DIMENSION_WORDS, toKeyName } from "../breakdowns/dimension-words.ts";
import type { ChangeState, ReportState } from "../report-state.ts";
import classes from "./FilterChips.module.css";
import { FILTER_DEFAULTS, listFilters, negateFilter, type ShownFilter, toggleFilter } from "./filter-state.ts";

type ChipsProps = { state: ReportState; change: ChangeState; widgetNames: ReadonlyMap<string, string> };

/** The filters as removable chips. A click on a chip turns "is" into "is not". */
export function FilterChips({ state, change, widgetNames }: ChipsProps) {
  const filters = listFilters(state);
  const group = useRef<HTMLDivElement>(null);
  useKeptFocus(group, filters);
  if (filters.length === 0) return null;
  return (
    <Group gap="xs" mb="lg" role="group" aria-label="Filters" ref={group} tabIndex={-1}>
      {filters.map((filter) => (
        <Chip
          // A key is never both shown and left out, so the chip and the focus stay when it is negated.
          key={`${filter.dimension} ${filter.key}`}
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

/**
 * Removing a chip, or leaving out a row, would lose the keyboard's focus. It moves to the chips, or to the screen's heading if
 * there are none.
 */
function useKeptFocus(group: RefObject<HTMLElement | null>, filters: readonly ShownFilter[]): void {
  const [count, leftOut] = [filters.length, filters.filter(({ isNegated }) => isNegated).length];
  const last = useRef({ count, leftOut });
  useEffect(() => {
    const isRemoved = count < last.current.count && document.activeElement === document.body;
    const isLeftOut = leftOut > last.current.leftOut && document.activeElement?.closest("table");
    last.current = { count, leftOut };
    if (isRemoved || isLeftOut)
      (group.current ?? document.querySelector<HTMLElement>("h1"))?.focus({ preventScroll: true });
  }, [group, count, leftOut]);
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
