import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFilter } from "@tabler/icons-react";
import { type ReactNode, useId } from "react";
import { useIsPhone } from "../../hooks/screen-width.ts";
import classes from "./FilterGroup.module.css";

type FilterGroupProps = {
  /** Names the group for screen readers. */
  label: string;
  search?: ReactNode;
  /** The values of the filters besides the search; empty ones are not set. */
  values: readonly string[];
  isFiltered: boolean;
  onClear: () => void;
  children: ReactNode;
};

/** A list's filters in one row. On phones only the search shows, and a button opens the others. */
export function FilterGroup({ label, search, values, isFiltered, onClear, children }: FilterGroupProps) {
  const isPhone = useIsPhone();
  const [isOpen, { toggle }] = useDisclosure(false);
  const id = useId();
  const count = values.filter((value) => value !== "").length;
  return (
    <search className={classes["filters"]} aria-label={label}>
      {search}
      {isPhone && (
        <Button
          variant="default"
          leftSection={<IconFilter size={17} stroke={1.6} />}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={toggle}
        >
          {count === 0 ? "Filters" : `Filters (${count})`}
        </Button>
      )}
      <div id={id} className={classes["fields"]} hidden={isPhone && !isOpen}>
        {children}
      </div>
      {isFiltered && (
        <Button variant="subtle" color="gray" onClick={onClear}>
          Clear filters
        </Button>
      )}
    </search>
  );
}
