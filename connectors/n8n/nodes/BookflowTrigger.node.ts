import {
  type IDataObject,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeConnectionTypes,
} from "n8n-workflow";
import { listWidgets, requestBookflow } from "./request";
import { isSigned } from "./signature";

/** The endpoint that this node has in Bookflow, by the address in n8n: a workflow has one for its tests, and one while it is active. */
type Subscriptions = Record<string, { id: string; secret: string }>;

export class BookflowTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Bookflow Trigger",
    name: "bookflowTrigger",
    icon: "file:bookflow.svg",
    group: ["trigger"],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: "Starts the workflow when a booking is made, cancelled, moved or erased",
    defaults: { name: "Bookflow Trigger" },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: "bookflowApi", required: true }],
    webhooks: [{ name: "default", httpMethod: "POST", responseMode: "onReceived", path: "webhook" }],
    properties: [
      {
        displayName: "Events",
        name: "events",
        type: "multiOptions",
        required: true,
        default: ["booking.created"],
        options: [
          { name: "Booking Cancelled", value: "booking.cancelled" },
          { name: "Booking Created", value: "booking.created" },
          { name: "Booking Erased", value: "booking.erased" },
          { name: "Booking Rescheduled", value: "booking.rescheduled" },
        ],
      },
      {
        displayName: "Widget Names or IDs",
        name: "widgets",
        type: "multiOptions",
        typeOptions: { loadOptionsMethod: "listWidgets" },
        default: [],
        description:
          'Only events of these widgets. Leave empty for all widgets. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
    ],
  };

  methods = { loadOptions: { listWidgets } };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const { subscriptions, url } = read(this);
        const own = subscriptions[url];
        if (!own) return false;
        const body = { ...toSettings(this), isEnabled: true };
        const isThere = await unlessMissing(
          requestBookflow(this, { method: "PATCH", path: `/endpoints/${own.id}`, body }),
        );
        if (!isThere) delete subscriptions[url];
        return isThere;
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const { subscriptions, url } = read(this);
        const body = { ...toSettings(this), url, kind: "webhook", description: "n8n" };
        const { endpoint, secret, sameUrlAs } = await requestBookflow(this, {
          method: "POST",
          path: "/endpoints",
          body,
        });
        subscriptions[url] = { id: String((endpoint as IDataObject)["id"]), secret: String(secret) };
        // Left over if the answer to an earlier request was lost. Nobody knows its secret.
        if (sameUrlAs !== null) await deleteEndpoint(this, String(sameUrlAs));
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        const { subscriptions, url } = read(this);
        const own = subscriptions[url];
        if (own) await deleteEndpoint(this, own.id);
        delete subscriptions[url];
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const subscriptions = this.getWorkflowStaticData("node") as Subscriptions;
    const secrets = Object.values(subscriptions).map(({ secret }) => secret);
    const { rawBody } = this.getRequestObject();
    const headers = this.getHeaderData();
    const now = new Date();
    if (!rawBody || !isSigned({ rawBody, header: headers["service-signature"], secrets, now })) {
      this.getResponseObject().status(401).json({ message: "The signature is not valid." });
      return { noWebhookResponse: true };
    }
    const event = this.getBodyData();
    // A test of the endpoint is answered, but has no booking.
    if (event["type"] === "endpoint.test") return { webhookResponse: "OK" };
    const mode = headers["service-mode"] === "test" ? "test" : "live";
    return { workflowData: [this.helpers.returnJsonArray([{ ...event, mode }])] };
  }
}

function read(context: IHookFunctions): { subscriptions: Subscriptions; url: string } {
  const url = String(context.getNodeWebhookUrl("default"));
  return { subscriptions: context.getWorkflowStaticData("node") as Subscriptions, url };
}

function toSettings(context: IHookFunctions): { eventTypes: string[]; widgetIds: string[] | null } {
  const widgets = context.getNodeParameter("widgets") as string[];
  const eventTypes = context.getNodeParameter("events") as string[];
  return { eventTypes, widgetIds: widgets.length === 0 ? null : widgets };
}

async function deleteEndpoint(context: IHookFunctions, id: string): Promise<void> {
  await unlessMissing(requestBookflow(context, { method: "DELETE", path: `/endpoints/${id}` }));
}

/** False if Bookflow answers that there is no such thing. */
async function unlessMissing(request: Promise<unknown>): Promise<boolean> {
  return await request.then(
    () => true,
    (error: { httpCode?: unknown }) => {
      if (String(error.httpCode) === "404") return false;
      throw error;
    },
  );
}
