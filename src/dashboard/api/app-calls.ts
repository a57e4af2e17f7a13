import type { AppAnalytics } from "#contract/app/analytics.ts";
import type { BookingDetail, BookingSummaryPage, EraseAnswer, EraseRequest } from "#contract/app/bookings.ts";
import type {
  AppConnectionList,
  ConnectionChange,
  ConnectionTest,
  NewConnection,
  SavedConnection,
} from "#contract/app/connections.ts";
import type { AppDeliveryDetail, AppDeliveryPage, QueuedDelivery } from "#contract/app/deliveries.ts";
import type {
  AddedEndpoint,
  AppEndpoint,
  AppEndpointList,
  EndpointChange,
  NewEndpoint,
  RedeliverFailedAnswer,
  RedeliverFailedRequest,
  RotatedSecret,
} from "#contract/app/endpoints.ts";
import type { AppKeyList, MadeKey, NewKey } from "#contract/app/keys.ts";
import { APP_PREFIX, APP_ROUTES, type AppRouteName } from "#contract/app/routes.ts";
import type { AppWidget, AppWidgetList, NewWidget, WidgetChange } from "#contract/app/widgets.ts";
import { send, toAddress } from "./client.ts";

/** What each route of contract/app/routes.ts takes and gives. Files (.csv) are downloaded: see addressOf. */
type Calls = {
  listWidgets: { answer: AppWidgetList };
  createWidget: { answer: AppWidget; body: NewWidget };
  getWidget: { answer: AppWidget };
  changeWidget: { answer: AppWidget; body: WidgetChange };
  listBookings: { answer: BookingSummaryPage };
  getBooking: { answer: BookingDetail };
  deleteBooking: { answer: null };
  eraseBookings: { answer: EraseAnswer; body: EraseRequest };
  getAnalytics: { answer: AppAnalytics };
  listEndpoints: { answer: AppEndpointList };
  addEndpoint: { answer: AddedEndpoint; body: NewEndpoint };
  changeEndpoint: { answer: AppEndpoint; body: EndpointChange };
  removeEndpoint: { answer: null };
  testEndpoint: { answer: QueuedDelivery };
  rotateSecret: { answer: RotatedSecret };
  redeliverFailed: { answer: RedeliverFailedAnswer; body: RedeliverFailedRequest };
  listDeliveries: { answer: AppDeliveryPage };
  getDelivery: { answer: AppDeliveryDetail };
  redeliver: { answer: QueuedDelivery };
  listKeys: { answer: AppKeyList };
  createKey: { answer: MadeKey; body: NewKey };
  revokeKey: { answer: null };
  listConnections: { answer: AppConnectionList };
  addConnection: { answer: SavedConnection; body: NewConnection };
  changeConnection: { answer: SavedConnection; body: ConnectionChange };
  removeConnection: { answer: null };
  testConnection: { answer: ConnectionTest };
};

type CallName = keyof Calls;
type BodyOf<Name extends CallName> = Calls[Name] extends { body: infer Body } ? { body: Body } : { body?: never };

export type CallOptions = {
  readonly organization: string;
  /** Fills the `:name` parts of the route's path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** See ui/use-idempotency-key.ts. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

/** Calls a route by its name in the contract: `call("getWidget", { organization, params: { widget: id } })`. */
export async function call<Name extends CallName>(
  name: Name,
  { organization, params, query, idempotencyKey, signal, body }: CallOptions & BodyOf<Name>,
): Promise<Calls[Name]["answer"]> {
  const { method } = APP_ROUTES[name];
  return await send({ method, path: pathOf(name, params), organization, query, idempotencyKey, signal, body });
}

/** A route's address with its query, for files: see ui/download.ts. */
export function addressOf(name: AppRouteName, options: Pick<CallOptions, "params" | "query"> = {}): string {
  return toAddress(pathOf(name, options.params), options.query);
}

function pathOf(name: AppRouteName, params: CallOptions["params"] = {}): string {
  return APP_PREFIX + APP_ROUTES[name].path.replaceAll(/:(\w+)/g, (_, key) => encodeURIComponent(params[key] ?? ""));
}
