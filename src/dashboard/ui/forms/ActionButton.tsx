import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import type { ComponentPropsWithoutRef, ReactNode } from "react";
import { download, type ExportName } from "../../api/call.ts";
import type { Query } from "../../api/client.ts";
import { ALLOWED, type Verdict } from "../../can.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useOrganization } from "../../shell/use-organization.ts";

type ActionButtonProps = ButtonProps &
  Omit<ComponentPropsWithoutRef<"button">, keyof ButtonProps> & { verdict?: Verdict };

/** A forbidden action stays visible and focusable, and says why: keyboards would skip a disabled button. */
export function ActionButton({ verdict = ALLOWED, onClick, ...props }: ActionButtonProps) {
  if (verdict.isAllowed) return <Button {...props} {...(onClick ? { onClick } : {})} />;
  return (
    <Tooltip label={verdict.plan ? `${verdict.reason} See Plan in Settings.` : verdict.reason}>
      <Button {...props} type="button" data-disabled aria-disabled="true" onClick={(event) => event.preventDefault()} />
    </Tooltip>
  );
}

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
