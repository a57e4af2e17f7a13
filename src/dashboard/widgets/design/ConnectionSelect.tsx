import { Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { connectionsQuery } from "../../api/connections.ts";
import { wordsOf } from "../../connections/connection-words.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { TextLink } from "../../ui/layout/links.tsx";
import { SANDBOX_NAME } from "../widget-words.ts";

/** No id of a connection. */
const SANDBOX = "sandbox";

type ConnectionSelectProps = {
  value?: string;
  onChange?: (connectionId: string) => void;
  error?: ReactNode;
  readOnly?: boolean;
};

/** The scheduling system that the widget books in. An empty text stands for the sandbox. */
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
            ? "The sandbox has times of its own, for trying things out: real calendars are not asked."
            : "Free times come from there, and bookings are made there."
        }
        data={[{ value: SANDBOX, label: SANDBOX_NAME }, ...known, ...(isKnown ? [] : [{ value, label: value }])]}
        value={value === "" ? SANDBOX : value}
        onChange={(chosen) => onChange?.(chosen === null || chosen === SANDBOX ? "" : chosen)}
        allowDeselect={false}
        readOnly={readOnly}
        error={error ?? (connections.isError && "The connections could not be read. Open this screen again.")}
      />
      {isAllowed && (
        <Text size="xs" c="dimmed" mt={6}>
          Another one?{" "}
          <TextLink to={paths.connections} underline="always">
            Connect it first
          </TextLink>
        </Text>
      )}
    </div>
  );
}
