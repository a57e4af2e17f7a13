import { Button, NativeSelect, Popover } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFilterPlus } from "@tabler/icons-react";
import { useState } from "react";
import { FILTER_DIMENSIONS, type FilterDimension } from "#contract/dimensions.ts";
import type { ChipsProps } from "./FilterChips.tsx";
import { FilterEditor } from "./FilterEditor.tsx";
import { listFilters, replaceFilter } from "./filter-state.ts";
import { toFilterName } from "./filter-words.ts";

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
