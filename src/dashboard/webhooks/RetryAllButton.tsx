import { Box } from "@mantine/core";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes } from "../api/endpoints.ts";
import { pluralize } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";

/** For someone who has fixed the receiver: sends all queued and retrying deliveries of the endpoint now. */
export function RetryAllButton({ endpoint }: { endpoint: AppEndpoint }) {
  const { id, can } = useOrganization();
  const retry = useAction({
    run: () => call("retryEndpoint", { organization: id, params: { endpoint: endpoint.id } }),
    refreshes: endpointRefreshes(id),
    successMessage: ({ count }) =>
      count === 0 ? "No deliveries to retry" : `Retrying ${pluralize(count, "delivery", "deliveries")}`,
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
        Retry all now
      </ActionButton>
    </Box>
  );
}
