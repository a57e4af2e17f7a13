// What the nodes use of n8n's own types. n8n-workflow itself brings hundreds of packages; n8n has it where the nodes run.
declare module "n8n-workflow" {
  // biome-ignore lint/suspicious/noExplicitAny: n8n's own types say so
  type IDataObject = Record<string, any>;
  type JsonObject = IDataObject;
  type Options = { name: string; value: string; action?: string };
  type INodePropertyOptions = Options;
  type INodeProperties = {
    displayName: string;
    name: string;
    type: "boolean" | "collection" | "dateTime" | "multiOptions" | "number" | "options" | "string";
    default: unknown;
    [more: string]: unknown;
  };
  type Url = { baseURL?: string; url: string };
  type IAuthenticateGeneric = { type: "generic"; properties: { headers: Record<string, string> } };
  type ICredentialTestRequest = { request: Url };
  interface ICredentialType {
    name: string;
    displayName: string;
    properties: INodeProperties[];
  }
  type INodeTypeDescription = {
    displayName: string;
    name: string;
    properties: INodeProperties[];
    [more: string]: unknown;
  };
  interface INodeType {
    description: INodeTypeDescription;
  }
  type IHttpRequestOptions = {
    url: string;
    method?: "DELETE" | "GET" | "PATCH" | "POST";
    body?: IDataObject;
    qs?: IDataObject;
    json?: boolean;
  };
  type Node = { name: string };
  interface ILoadOptionsFunctions {
    getCredentials(name: string): Promise<IDataObject>;
    helpers: {
      httpRequestWithAuthentication(
        this: unknown,
        credentials: string,
        request: IHttpRequestOptions,
      ): Promise<IDataObject>;
    };
  }
  interface IHookFunctions extends ILoadOptionsFunctions {
    getNodeParameter(name: string): unknown;
    getNodeWebhookUrl(name: "default"): string | undefined;
    getWorkflowStaticData(type: "node"): IDataObject;
  }
  type INodeExecutionData = { json: IDataObject; pairedItem?: { item: number } };
  type IWebhookResponseData = {
    workflowData?: INodeExecutionData[][];
    webhookResponse?: unknown;
    noWebhookResponse?: boolean;
  };
  interface IWebhookFunctions {
    getBodyData(): IDataObject;
    getHeaderData(): Record<string, string | string[] | undefined>;
    getRequestObject(): { rawBody?: Buffer };
    getResponseObject(): { status(code: number): { json(body: object): unknown } };
    getWorkflowStaticData(type: "node"): IDataObject;
    helpers: { returnJsonArray(items: IDataObject[]): INodeExecutionData[] };
  }
  interface IExecuteFunctions extends ILoadOptionsFunctions {
    continueOnFail(): boolean;
    getInputData(): INodeExecutionData[];
    getNode(): Node;
    getNodeParameter(name: string, item: number, fallback?: unknown): unknown;
  }
  const NodeConnectionTypes: { Main: "main" };
  class NodeApiError extends Error {
    constructor(node: Node, error: JsonObject, options?: { itemIndex: number });
  }
}
