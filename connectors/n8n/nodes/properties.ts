import type { INodeProperties, INodePropertyOptions } from "n8n-workflow";

// The parameters of the node Bookflow, as n8n shows them.

type Operation = { resource: string; operation: string };

const option = (name: string, value: string, action?: string): INodePropertyOptions =>
  action === undefined ? { name, value } : { name, value, action };

const show = (...operations: Operation[]) => ({
  displayOptions: {
    show: {
      resource: [...new Set(operations.map(({ resource }) => resource))],
      operation: [...new Set(operations.map(({ operation }) => operation))],
    },
  },
});

const operations = (resource: string, options: INodePropertyOptions[]): INodeProperties => ({
  displayName: "Operation",
  name: "operation",
  type: "options",
  noDataExpression: true,
  default: options[0]?.value ?? "",
  options,
  displayOptions: { show: { resource: [resource] } },
});

const text = (name: string, displayName: string, placeholder: string): INodeProperties => ({
  displayName,
  name,
  type: "string",
  default: "",
  placeholder,
});

const instant = (name: string, displayName: string, description: string): INodeProperties => ({
  displayName,
  name,
  type: "dateTime",
  default: "",
  description: `${description} In UTC, unless it has an offset.`,
});

const filters = (of: Operation, options: INodeProperties[]): INodeProperties => ({
  displayName: "Filters",
  name: "filters",
  type: "collection",
  placeholder: "Add Filter",
  default: {},
  options,
  ...show(of),
});

const widget: INodeProperties = {
  displayName: "Widget Name or ID",
  name: "widget",
  type: "options",
  typeOptions: { loadOptionsMethod: "listWidgets" },
  default: "",
  description:
    'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
};

const days: INodeProperties = {
  displayName: "Days",
  name: "days",
  type: "number",
  typeOptions: { minValue: 1, maxValue: 730 },
  default: 30,
  description: "How many days, today included",
};

const LISTS: readonly Operation[] = [
  { resource: "analytics", operation: "getBreakdown" },
  { resource: "booking", operation: "getAll" },
  { resource: "change", operation: "getAll" },
  { resource: "delivery", operation: "getAll" },
];

export const PROPERTIES: INodeProperties[] = [
  {
    displayName: "Resource",
    name: "resource",
    type: "options",
    noDataExpression: true,
    default: "booking",
    options: [
      option("Analytics", "analytics"),
      option("Booking", "booking"),
      option("Change", "change"),
      option("Delivery", "delivery"),
    ],
  },
  operations("analytics", [
    option("Get", "get", "Get analytics"),
    option("Get Breakdown", "getBreakdown", "Get a breakdown"),
  ]),
  operations("booking", [option("Get", "get", "Get a booking"), option("Get Many", "getAll", "Get many bookings")]),
  operations("change", [option("Get Many", "getAll", "Get many changes of appointments")]),
  operations("delivery", [
    option("Get", "get", "Get a delivery"),
    option("Get Many", "getAll", "Get many deliveries"),
    option("Redeliver", "redeliver", "Redeliver an event"),
  ]),
  {
    ...text("reference", "Reference", "SVC-7KQ2MX"),
    required: true,
    ...show({ resource: "booking", operation: "get" }),
  },
  {
    ...text("deliveryId", "Delivery ID", "0d9c8a4e-5b1f-4c3e-9a67-2f1be8d60c55"),
    required: true,
    ...show({ resource: "delivery", operation: "get" }, { resource: "delivery", operation: "redeliver" }),
  },
  {
    displayName: "Dimension",
    name: "dimension",
    type: "options",
    default: "channel",
    options: ["Campaign", "Channel", "Country", "Device", "Page", "Service", "Source", "Widget"].map((name) =>
      option(name, name.toLowerCase()),
    ),
    ...show({ resource: "analytics", operation: "getBreakdown" }),
  },
  {
    displayName: "Return All",
    name: "returnAll",
    type: "boolean",
    default: false,
    description: "Whether to return all results or only up to a given limit",
    ...show(...LISTS),
  },
  {
    displayName: "Limit",
    name: "limit",
    type: "number",
    typeOptions: { minValue: 1 },
    default: 50,
    description: "Max number of results to return",
    displayOptions: { show: { ...show(...LISTS).displayOptions.show, returnAll: [false] } },
  },
  filters({ resource: "analytics", operation: "get" }, [days, widget]),
  filters({ resource: "analytics", operation: "getBreakdown" }, [days, widget]),
  filters({ resource: "booking", operation: "getAll" }, [
    instant("since", "Created After", "Bookings created at or after this time."),
    instant("until", "Created Before", "Bookings created before this time."),
    widget,
  ]),
  filters({ resource: "change", operation: "getAll" }, [
    instant("since", "Changed After", "Changes recorded at or after this time."),
  ]),
  filters({ resource: "delivery", operation: "getAll" }, [
    text("endpoint", "Endpoint ID", "we_4fTqD8sKmB2xPq7R"),
    {
      displayName: "State",
      name: "state",
      type: "options",
      default: "failed",
      options: ["Canceled", "Delivered", "Failed", "Queued", "Retrying"].map((name) =>
        option(name, name.toLowerCase()),
      ),
    },
  ]),
];
