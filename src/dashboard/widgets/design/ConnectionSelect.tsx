import { Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { connectionsQuery } from "../../api/connections.ts";
import { wordsOf } from "../../connections/connection-words.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { TextLink } from "../../ui/layout/links.tsx";
import { SANDBOX_NAME } from "../widget-words.ts";

/** Not a connection's id. */
const SANDBOX = "sandbox";

type ConnectionSelectProps = {
  value?: string;
  onChange?: (connectionId: string) => void;
  error?: ReactNode;
  readOnly?: boolean;
};

/** The widget's scheduling system; an empty string means the sandbox. */
export function ConnectionSelect({ value = "", onChange, error, readOnly = false }: ConnectionSelectProps) {
  const { id, paths, can } = useOrganization();
  const isAllowed = can("listConnections").isAllowed;
  const connections = useQuery({ ...connectionsQuery(id), enabled: isAllowed });
  const known = (connections.data?.data ?? []).map((each) => ({
    value: each.id,
    label: `${each.name} (${wordsOf(each.kind).name})`,
  }));
  const isKnown = value === "" || known.some((option) => option.value === value);
  return (
    <div>
      <Select
        label="Scheduling system"
        description={
          value === ""
            ? "The sandbox offers made-up times for testing. Your real calendar isn’t used."
            : "Available times come from this system, and bookings are made in it."
        }
        data={[{ value: SANDBOX, label: SANDBOX_NAME }, ...known, ...(isKnown ? [] : [{ value, label: value }])]}
        value={value === "" ? SANDBOX : value}
        onChange={(chosen) => onChange?.(chosen === null || chosen === SANDBOX ? "" : chosen)}
        allowDeselect={false}
        readOnly={readOnly}
        error={error ?? (connections.isError && "Connections couldn’t be loaded. Reload the page.")}
      />
      {isAllowed && (
        <Text size="xs" c="dimmed" mt={6}>
          <TextLink to={paths.connections} underline="always">
            Manage connections
          </TextLink>
        </Text>
      )}
    </div>
  );
}
