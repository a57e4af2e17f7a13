import { Button, Group, NativeSelect, Popover, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFilterPlus, IconX } from "@tabler/icons-react";
import { type RefObject, useEffect, useRef, useState } from "react";
import { FILTER_DIMENSIONS, type FilterDimension } from "#contract/analytics/dimensions.ts";
import type { ChangeState, ReportState } from "../report-state.ts";
import classes from "./FilterChips.module.css";
import { FilterEditor } from "./FilterEditor.tsx";
import { FILTER_DEFAULTS, listFilters, replaceFilter, type ShownFilter, setFilter } from "./filter-state.ts";
import { toFilterName, toKeysText } from "./filter-words.ts";

export type ChipsProps = { state: ReportState; change: ChangeState; widgetNames: ReadonlyMap<string, string> };

export function FilterChips({ state, change, widgetNames }: ChipsProps) {
  const filters = listFilters(state);
  const group = useRef<HTMLDivElement>(null);
  useKeptFocus(group, filters);
  if (filters.length === 0) return null;
  return (
    <Group gap="xs" className={classes["chips"] ?? ""} role="group" aria-label="Filters" ref={group} tabIndex={-1}>
      {filters.map((filter, i) => (
        <Chip
          // The chip and its focus stay when "is" becomes "is not", unless its dimension has both.
          key={`${filter.dimension} ${filters[i - 1]?.dimension === filter.dimension}`}
          {...{ filter, state, change, widgetNames }}
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

/** Removing a chip would lose the keyboard's focus: it moves to the chips, or to the heading if there are none. */
function useKeptFocus(group: RefObject<HTMLElement | null>, filters: readonly ShownFilter[]): void {
  const leftOut = filters.flatMap(({ isNegated, keys }) => (isNegated ? keys : [])).length;
  const last = useRef({ count: filters.length, leftOut });
  useEffect(() => {
    const isRemoved = filters.length < last.current.count && document.activeElement === document.body;
    const isLeftOut = leftOut > last.current.leftOut && document.activeElement?.closest("table");
    last.current = { count: filters.length, leftOut };
    if (isRemoved || isLeftOut)
      (group.current ?? document.querySelector<HTMLElement>("h1"))?.focus({ preventScroll: true });
  }, [group, filters.length, leftOut]);
}

function Chip({ filter, state, change, widgetNames }: ChipsProps & { filter: ShownFilter }) {
  const [isOpen, editor] = useDisclosure(false);
  const { dimension, isNegated } = filter;
  const name = toFilterName(dimension);
  const keys = toKeysText(filter, widgetNames);
  const remove = () => change(setFilter(state, { ...filter, keys: [] }));
  return (
    <span className={classes["chip"]} data-negated={isNegated}>
      <Popover opened={isOpen} onChange={editor.close} position="bottom-start" shadow="md" trapFocus returnFocus>
        <Popover.Target>
          <UnstyledButton className={classes["text"]} onClick={editor.toggle} title="Edit filter">
            {name} <span className={classes["verb"]}>{isNegated ? "is not" : "is"}</span> <strong>{keys}</strong>
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown>
          <FilterEditor
            {...{ filter, state, widgetNames }}
            onApply={(next) => {
              editor.close();
              change(replaceFilter(state, filter, next));
            }}
            onRemove={remove}
          />
        </Popover.Dropdown>
      </Popover>
      <UnstyledButton className={classes["remove"]} onClick={remove} aria-label={`Remove filter ${name} ${keys}`}>
        <IconX size={14} stroke={2} aria-hidden />
      </UnstyledButton>
    </span>
  );
}

const CHOICES = FILTER_DIMENSIONS.map((dimension) => ({ value: dimension, label: toFilterName(dimension) }));

/** Filters by any values of any dimension, also those that no list on the screen shows. */
export function AddFilter({ state, change, widgetNames }: ChipsProps) {
  const [isOpen, editor] = useDisclosure(false);
  const [dimension, setDimension] = useState<FilterDimension>("channel");
  const shown = listFilters(state).filter((filter) => filter.dimension === dimension);
  const filter = shown[0] ?? { dimension, isNegated: false, keys: [] };
  return (
    <Popover opened={isOpen} onChange={editor.close} position="bottom-start" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconFilterPlus size={17} stroke={1.6} />}
          onClick={editor.toggle}
          // On phones there is only room for the icon.
          aria-label="Add filter"
          data-shrinks
        >
          Add filter
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <NativeSelect
          aria-label="Filter by"
          data={CHOICES}
          value={dimension}
          onChange={(event) => setDimension(event.currentTarget.value as FilterDimension)}
          mb="xs"
          data-autofocus
        />
        <FilterEditor
          key={dimension}
          {...{ filter, state, widgetNames }}
          onApply={(next) => {
            editor.close();
            change(replaceFilter(state, filter, next));
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
