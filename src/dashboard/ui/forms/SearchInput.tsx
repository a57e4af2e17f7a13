import { CloseButton, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { SEARCH_LENGTH_MAX } from "#contract/limits.ts";

const TYPING_MS = 250;

type SearchInputProps = {
  value: string;
  label: string;
  placeholder: string;
  onSearch: (text: string) => void;
};

/** Reports typed text when typing pauses, and follows `value`, which the browser's Back button may change. */
export function SearchInput({ value, label, placeholder, onSearch }: SearchInputProps) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const send = useDebouncedCallback((next: string) => {
    sent.current = next;
    onSearch(next);
  }, TYPING_MS);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  const change = (next: string) => {
    setText(next);
    send(next);
  };
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={17} stroke={1.6} aria-hidden />}
      rightSection={text !== "" && <CloseButton size="sm" aria-label="Clear search" onClick={() => change("")} />}
      maxLength={SEARCH_LENGTH_MAX}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
