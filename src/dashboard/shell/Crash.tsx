import { Page } from "../ui/layout/Page.tsx";
import { ErrorState } from "../ui/states/ErrorState.tsx";

/** A fault in the page itself. */
export function Crash({ error }: { error: unknown }) {
  return (
    <Page title="This page stopped working" width="narrow">
      <ErrorState
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => window.location.reload()}
      />
    </Page>
  );
}
