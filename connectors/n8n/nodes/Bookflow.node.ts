import {
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type JsonObject,
  NodeApiError,
  NodeConnectionTypes,
} from "n8n-workflow";
import { PROPERTIES } from "./properties";
import { listWidgets, requestBookflow } from "./request";

const PAGE_ROWS = 100;

export class Bookflow implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Bookflow",
    name: "bookflow",
    icon: "file:bookflow.svg",
    group: ["input"],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: "Reads bookings, analytics and webhook deliveries",
    defaults: { name: "Bookflow" },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: "bookflowApi", required: true }],
    properties: PROPERTIES,
  };

  methods = { loadOptions: { listWidgets } };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const results: INodeExecutionData[] = [];
    for (const item of this.getInputData().keys()) {
      try {
        for (const json of await run(this, item)) results.push({ json, pairedItem: { item } });
      } catch (error) {
        if (!this.continueOnFail()) throw new NodeApiError(this.getNode(), error as JsonObject, { itemIndex: item });
        // n8n's message names the status only; Bookflow's own words are the description.
        const { message, description = message } = error as Error & { description?: string };
        results.push({ json: { error: description }, pairedItem: { item } });
      }
    }
    return [results];
  }
}

type Call = { method?: "POST"; path: string; qs?: IDataObject; isList?: true };

function toCall(context: IExecuteFunctions, item: number): Call {
  const read = (name: string) => context.getNodeParameter(name, item);
  const id = (name: string) => encodeURIComponent(String(read(name)));
  const chosen = Object.entries(context.getNodeParameter("filters", item, {}) as IDataObject).filter(
    ([, value]) => value !== "",
  );
  const qs = Object.fromEntries(chosen);
  switch (`${read("resource")}.${read("operation")}`) {
    case "analytics.get":
      return { path: "/analytics", qs };
    case "analytics.getBreakdown":
      return { path: "/analytics/breakdown", qs: { ...qs, dimension: String(read("dimension")) }, isList: true };
    case "booking.get":
      return { path: `/bookings/${id("reference")}` };
    case "booking.getAll":
      return { path: "/bookings", qs, isList: true };
    case "change.getAll":
      return { path: "/changes", qs, isList: true };
    case "delivery.get":
      return { path: `/deliveries/${id("deliveryId")}` };
    case "delivery.getAll":
      return { path: "/deliveries", qs, isList: true };
    default:
      return { method: "POST", path: `/deliveries/${id("deliveryId")}/redeliver` };
  }
}

async function run(context: IExecuteFunctions, item: number): Promise<IDataObject[]> {
  const { method = "GET", path, qs = {}, isList } = toCall(context, item);
  if (!isList) return [await requestBookflow(context, { method, path, qs })];
  const returnsAll = context.getNodeParameter("returnAll", item) === true;
  const limit = returnsAll ? Number.POSITIVE_INFINITY : Number(context.getNodeParameter("limit", item));
  const rows: IDataObject[] = [];
  let cursor: IDataObject = {};
  do {
    const page = { ...qs, ...cursor, limit: Math.min(PAGE_ROWS, limit - rows.length) };
    const { data, nextCursor } = await requestBookflow(context, { method, path, qs: page });
    rows.push(...(data as IDataObject[]));
    cursor = { cursor: nextCursor };
  } while (cursor["cursor"] !== null && rows.length < limit);
  return rows;
}
