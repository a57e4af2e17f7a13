import { IconDownload } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { download, type ExportName } from "../../api/call.ts";
import type { Query } from "../../api/client.ts";
import type { Verdict } from "../../can.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ActionButton } from "./ActionButton.tsx";

/** `mutate` downloads a CSV file. */
export function useDownload(route: ExportName) {
  const { id } = useOrganization();
  return useAction({
    run: (query: Query) => download(route, { organization: id, query }),
    successMessage: () => "Download started",
  });
}

type ExportButtonProps = { route: ExportName; query: Query; verdict?: Verdict; variant?: string; children?: ReactNode };

/** Downloads everything that matches the query, not only what is loaded. */
export function ExportButton({ route, query, children = "Export CSV", ...props }: ExportButtonProps) {
  const save = useDownload(route);
  return (
    <ActionButton
      leftSection={<IconDownload size={17} stroke={1.6} />}
      loading={save.isPending}
      onClick={() => save.mutate(query)}
      {...props}
    >
      {children}
    </ActionButton>
  );
}
