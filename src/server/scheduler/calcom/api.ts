import type { Shape } from "../../lib/shape.ts";
import type { CalcomParts } from "../connections/connection-settings.ts";
import type { Outbound, OutboundReply } from "../outbound.ts";
import { readReply } from "../read-reply.ts";
import { found, type Read } from "../scheduling-system.ts";
import { sendPatiently } from "../send-patiently.ts";
import { FIXED_VERSIONS } from "./shapes.ts";

export type CalcomApi = {
  /** `path` is below `/v2`. Returns the reply's `data`. */
  read<T>(request: ApiRequest, shape: Shape<{ status: "success"; data: T }>, signal: AbortSignal): Promise<Read<T>>;
  post(request: ApiRequest & { json: unknown }, signal: AbortSignal): Promise<OutboundReply>;
};

type ApiRequest = {
  readonly resource: keyof typeof FIXED_VERSIONS | "bookings";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
};

export function createCalcomApi(deps: { outbound: Outbound }, { settings, credentials }: CalcomParts): CalcomApi {
  const versions = { ...FIXED_VERSIONS, bookings: settings.apiVersion };
  const toUrl = ({ path, query = {} }: ApiRequest): string => {
    const search = new URLSearchParams(query).toString();
    return `${settings.apiUrl}/v2${path}${search === "" ? "" : `?${search}`}`;
  };
  const toHeaders = ({ resource }: ApiRequest): Record<string, string> => ({
    Authorization: `Bearer ${credentials.apiKey}`,
    "cal-api-version": versions[resource],
  });
  return {
    read: async (request, shape, signal) => {
      const headers = toHeaders(request);
      const reply = await sendPatiently(
        deps.outbound,
        { method: "GET", url: toUrl(request), headers, body: null },
        signal,
      );
      const read = readReply(reply, shape);
      return read.kind === "found" ? found(read.value.data) : read;
    },
    post: (request, signal) => {
      const { json } = request;
      return sendPatiently(
        deps.outbound,
        { method: "POST", url: toUrl(request), headers: toHeaders(request), body: { json } },
        signal,
      );
    },
  };
}
