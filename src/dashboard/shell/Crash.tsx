import { Page } from "../ui/layout/Page.tsx";
import { ErrorState } from "../ui/states/ErrorState.tsx";

export function Crash({ error }: { error: unknown }) {
  return (
    <Page title="Something went wrong" width="narrow">
      <ErrorState
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => window.location.reload()}
      />
    </Page>
  );
}
