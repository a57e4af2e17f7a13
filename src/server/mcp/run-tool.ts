import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Deps } from "../deps.ts";
import { ApiError } from "../http/api-error.ts";
import { badParameter, type Query, requireKnown } from "../http/parameters.ts";
import { TOOLS, type ToolCaller } from "./tools.ts";

/** What the caller did wrong is an answer that the assistant can act on. */
export async function runTool(
  deps: Pick<Deps, "db" | "clock" | "config">,
  caller: ToolCaller,
  { name, arguments: given = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
): Promise<CallToolResult> {
  try {
    const tool = TOOLS.find((each) => each.name === name);
    if (!tool) throw new ApiError("not_found", "Tool not found.");
    if (!tool.scopes.some((scope) => caller.scopes.includes(scope)))
      throw new ApiError("scope_required", `This API key needs the scope ${tool.scopes.join(" or ")}.`);
    const query = toQuery(given);
    requireKnown(query, Object.keys(tool.parameters));
    return toResult(await tool.run(deps, caller, query));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...toResult(error.body), isError: true };
  }
}

function toResult(answer: object): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(answer) }] };
}

/** As if they had been sent as query parameters, so that the read API's own checks apply. */
function toQuery(given: Record<string, unknown>): Query {
  return Object.fromEntries(
    Object.entries(given)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map((each) => toText(name, each)) : toText(name, value),
      ]),
  );
}

function toText(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw badParameter(name, "must be a text, a number or a list of texts");
}
