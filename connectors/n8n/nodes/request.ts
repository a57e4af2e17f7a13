import type {
  IDataObject,
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestOptions,
  ILoadOptionsFunctions,
} from "n8n-workflow";

type Context = IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions;

/** A request to Bookflow's API. n8n throws a NodeApiError if it fails. */
export async function requestBookflow(
  context: Context,
  { path, ...request }: Pick<IHttpRequestOptions, "method" | "body" | "qs"> & { path: string },
): Promise<IDataObject> {
  const { baseUrl } = await context.getCredentials("bookflowApi");
  const url = `${String(baseUrl).replace(/\/+$/, "")}/api/v1${path}`;
  return await context.helpers.httpRequestWithAuthentication.call(context, "bookflowApi", {
    ...request,
    url,
    json: true,
  });
}

/** For parameters that list widgets. */
export async function listWidgets(this: ILoadOptionsFunctions) {
  const { data } = await requestBookflow(this, { method: "GET", path: "/widgets" });
  return (data as { id: string; name: string }[]).map(({ id, name }) => ({ name, value: id }));
}
