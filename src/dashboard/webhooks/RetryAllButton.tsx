import { Box } from "@mantine/core";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes } from "../api/endpoints.ts";
import { pluralize } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";

/** "I fixed it": sends everything that waits for the endpoint now. */
export function RetryAllButton({ endpoint }: { endpoint: AppEndpoint }) {
  const { id, can } = useOrganization();
  const retry = useAction({
    run: () => call("retryEndpoint", { organization: id, params: { endpoint: endpoint.id } }),
    refreshes: endpointRefreshes(id),
    says: ({ count }) =>
      count === 0 ? "No delivery was waiting" : `${pluralize(count, "delivery", "deliveries")} retried now`,
  });
  return (
    <Box mt="sm">
      <ActionButton
        variant="default"
        size="xs"
        verdict={can("retryEndpoint")}
        loading={retry.isPending}
        onClick={() => retry.mutate()}
      >
        Retry all waiting now
      </ActionButton>
    </Box>
  );
}
