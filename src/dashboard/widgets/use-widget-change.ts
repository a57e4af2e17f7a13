import type { AppWidget, WidgetChange } from "#contract/app/widgets.ts";
import { call } from "../api/call.ts";
import { widgetsKey } from "../api/queries.ts";
import { type ActionOptions, useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";

/** Changes only the given fields. */
export function useWidgetChange(
  widget: string,
  options: Omit<ActionOptions<WidgetChange, AppWidget>, "run" | "refreshes">,
) {
  const { id } = useOrganization();
  return useAction<WidgetChange, AppWidget>({
    ...options,
    run: (body) => call("changeWidget", { organization: id, params: { widget }, body }),
    refreshes: [widgetsKey(id)],
  });
}
