import { Button, Checkbox, Group, ScrollArea, SegmentedControl, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  type Dimension,
  FILTER_VALUES_MAX,
  type FilterDimension,
  isTimeDimension,
  TIME_KEYS,
  toNegatedName,
} from "#contract/analytics/dimensions.ts";
import { SEARCH_LENGTH_MAX } from "#contract/limits.ts";
import { breakdownQuery } from "../../api/analytics.ts";
import { formatCount, pluralize } from "../../format.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { Loaded } from "../../ui/states/Loaded.tsx";
import { NAMES_LANGUAGE, toFlag } from "../breakdowns/dimension-words.ts";
import { type ReportState, toScope } from "../report-state.ts";
import classes from "./FilterEditor.module.css";
import type { ShownFilter } from "./filter-state.ts";
import { FULL_FILTER, toFilterKeyName } from "./filter-words.ts";

const SEARCH_PAUSE_MS = 250;

type Names = ReadonlyMap<string, string>;
type EditorProps = {
  filter: ShownFilter;
  state: ReportState;
  widgetNames: Names;
  onApply: (filter: ShownFilter) => void;
  /** Only for a filter that is already there. */
  onRemove?: () => void;
};

/** Chooses "is" or "is not", and the values. Nothing changes before Apply, which is one step in the browser's history. */
export function FilterEditor({ filter, state, widgetNames, onApply, onRemove }: EditorProps) {
  const { dimension } = filter;
  const [isNegated, setNegated] = useState(filter.isNegated);
  const [keys, setKeys] = useState<string[]>([...filter.keys]);
  const [search, setSearch] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (keys.length > 0) onApply({ dimension, isNegated, keys });
  };
  const values = { chosen: keys, first: filter.keys, search, widgetNames };
  return (
    <form className={classes["editor"]} onSubmit={submit}>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label="Condition"
        value={isNegated ? "is not" : "is"}
        onChange={(verb) => setNegated(verb === "is not")}
        data={["is", "is not"]}
      />
      <TextInput
        aria-label="Search values"
        maxLength={SEARCH_LENGTH_MAX}
        placeholder="Search"
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        leftSection={<IconSearch size={16} stroke={1.6} aria-hidden />}
        data-autofocus
      />
      <Checkbox.Group aria-label="Values" value={keys} onChange={setKeys}>
        {isTimeDimension(dimension) ? (
          <Values {...values} dimension={dimension} rows={TIME_KEYS[dimension].map((key) => ({ key, count: null }))} />
        ) : (
          <CountedValues {...values} dimension={dimension} state={state} />
        )}
      </Checkbox.Group>
      <Group justify={onRemove ? "space-between" : "flex-end"} gap="xs">
        {onRemove && (
          <Button variant="subtle" color="red" size="xs" onClick={onRemove}>
            Remove filter
          </Button>
        )}
        <Button type="submit" size="xs" disabled={keys.length === 0}>
          Apply
        </Button>
      </Group>
    </form>
  );
}

type ValuesProps<Of extends FilterDimension = FilterDimension> = {
  dimension: Of;
  chosen: readonly string[];
  /** Chosen when the editor was opened; they come first and stay there. */
  first: readonly string[];
  search: string;
  widgetNames: Names;
};

/** The largest values of the period, whatever this dimension is filtered by. */
function CountedValues({ dimension, state, search, ...values }: ValuesProps<Dimension> & { state: ReportState }) {
  const { id } = useOrganization();
  const [term] = useDebouncedValue(search.trim(), SEARCH_PAUSE_MS);
  // Services have no views of their own.
  const sort = dimension === "service" ? "bookings" : "views";
  const query = { dimension, search: term, sort, language: NAMES_LANGUAGE };
  const list = useQuery(breakdownQuery(id, { ...toScopeWithout(state, dimension), ...query }));
  return (
    <Loaded query={list} rows={5}>
      {({ rows, count }) => (
        <>
          <Values
            {...values}
            dimension={dimension}
            // The server has searched already, also by names.
            search=""
            first={term === "" ? values.first : []}
            rows={rows.map((row) => ({ key: row.key, count: pluralize(row[sort], sort.slice(0, -1)) }))}
          />
          {count > rows.length && (
            <Text size="xs" c="dimmed" mt={4}>
              {formatCount(rows.length)} of {formatCount(count)}. Search to find others.
            </Text>
          )}
        </>
      )}
    </Loaded>
  );
}

function toScopeWithout(state: ReportState, dimension: Dimension) {
  return toScope({ ...state, [dimension]: "", [toNegatedName(dimension)]: "" });
}

type Row = { key: string; count: string | null };

function Values({ dimension, chosen, first, search, widgetNames, rows }: ValuesProps & { rows: readonly Row[] }) {
  const nameOf = (key: string) => toFilterKeyName(dimension, key, widgetNames);
  const isFixed = isTimeDimension(dimension);
  const missing = first.filter((key) => !rows.some((row) => row.key === key)).map((key) => ({ key, count: null }));
  // Weekdays, hours and lead times have their own order.
  const isFirst = ({ key }: Row) => !isFixed && first.includes(key);
  const sorted = [...rows.filter(isFirst), ...missing, ...rows.filter((row) => !isFirst(row))];
  const found = sorted.filter(({ key }) => nameOf(key).toLowerCase().includes(search.trim().toLowerCase()));
  const isFull = chosen.length >= FILTER_VALUES_MAX;
  if (found.length === 0)
    return (
      <Text size="sm" c="dimmed" py="xs" role="status">
        No matches
      </Text>
    );
  return (
    <>
      <ScrollArea.Autosize mah="14rem" type="auto" offsetScrollbars="present" className={classes["values"]}>
        {found.map(({ key, count }) => (
          <Checkbox
            key={key}
            value={key}
            size="xs"
            disabled={isFull && !chosen.includes(key)}
            classNames={{
              root: classes["value"] ?? "",
              body: classes["body"] ?? "",
              labelWrapper: classes["label"] ?? "",
            }}
            label={
              <span className={classes["text"]}>
                <span className={classes["name"]}>
                  {dimension === "country" ? `${toFlag(key)} ` : ""}
                  {nameOf(key)}
                </span>
                {count !== null && <span className={classes["count"]}>{count}</span>}
              </span>
            }
          />
        ))}
      </ScrollArea.Autosize>
      {isFull && (
        <Text size="xs" c="dimmed" mt={4} role="status">
          {FULL_FILTER}
        </Text>
      )}
    </>
  );
}
