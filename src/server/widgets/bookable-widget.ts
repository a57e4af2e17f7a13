import type { FastifyRequest } from "fastify";
import { type ConnectionId, type OrganizationId, parseWidgetId, type WidgetId } from "#contract/ids.ts";
import {
  NO_OPTIONS,
  type Offer,
  type Template,
  type WidgetOptions,
  type WidgetStatus,
} from "#contract/widgets/widget.ts";
import type { Db } from "../db/connections/pool.ts";
import { readAnywhere } from "../db/home.ts";
import { runPrepared } from "../db/statements/run-prepared.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../http/errors/api-error.ts";
import { toClientNetwork } from "../http/limits/client-network.ts";
import { limitByNetwork, type RateLimitVerdict, rateLimited, SharedLimiter } from "../http/limits/rate-limit.ts";

export type BookableWidget = {
  id: WidgetId;
  organizationId: OrganizationId;
  connectionId: ConnectionId | null;
  name: string;
  businessName: string;
  bookingUrl: string | null;
  template: Template;
  status: WidgetStatus;
  accentColor: string | null;
  allowedDomains: readonly string[];
  options: WidgetOptions;
  /** Null: everything. */
  offer: Offer | null;
  /** When the logo was last changed; null: there is none, or this widget doesn't show it. */
  logoUpdatedAt: Date | null;
  timeZone: string;
};

/** Without an owner: a visitor knows only the widget's id. */
export async function findBookableWidget(db: Db, id: WidgetId): Promise<BookableWidget | null> {
  const statement = db
    .selectFrom("widgets")
    .innerJoin("organizations", "organizations.id", "widgets.organization_id")
    .leftJoin("organization_logos", "organization_logos.organization_id", "widgets.organization_id")
    .select([
      "widgets.id",
      "widgets.organization_id",
      "widgets.connection_id",
      "widgets.name",
      "widgets.business_name",
      "widgets.booking_url",
      "widgets.template",
      "widgets.status",
      "widgets.accent_color",
      "widgets.allowed_domains",
      "widgets.options",
      "widgets.offers",
      "organization_logos.updated_at as logo_updated_at",
      "organizations.name as organization_name",
      "organizations.time_zone",
    ])
    .where("widgets.id", "=", id);
  const [row] = await readAnywhere(db, (home) => runPrepared(home, "find_bookable_widget", statement));
  if (!row) return null;
  const options = { ...NO_OPTIONS, ...row.options };
  return {
    id: row.id,
    organizationId: row.organization_id,
    connectionId: row.connection_id,
    name: row.name,
    businessName: row.business_name || row.organization_name,
    bookingUrl: row.booking_url,
    template: row.template,
    status: row.status,
    accentColor: row.accent_color,
    allowedDomains: row.allowed_domains,
    options,
    offer: row.offers[row.connection_id ?? "sandbox"] ?? null,
    logoUpdatedAt: options.showsLogo ? row.logo_updated_at : null,
    timeZone: row.time_zone ?? "UTC",
  };
}

/** Guard of the routes under /embed-api: throws `not_found`. */
export async function requireBookableWidget(db: Db, text: string): Promise<BookableWidget> {
  const id = parseWidgetId(text);
  const widget = id && (await findBookableWidget(db, id));
  if (!widget) throw notFound("Widget");
  return widget;
}

/**
 * The widget's switches; null if it was deleted. Whoever changes them waits until this transaction ends, and this transaction waits
 * for a change that is under way. So nothing is booked or stored against a change that was acknowledged.
 */
export async function holdSwitches(
  transaction: Db,
  owner: OrganizationId,
  id: WidgetId,
): Promise<{ status: WidgetStatus; storesBookings: boolean } | null> {
  const statement = transaction
    .selectFrom("widgets")
    .select(["status", "collect_data as storesBookings"])
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .forShare();
  const [row] = await runPrepared(transaction, "hold_switches", statement);
  return row ?? null;
}

type WidgetRequest = FastifyRequest<{ Params: { widget: string } }>;

type WidgetGuard = {
  /** Limits requests per network before anything is read. */
  requireWidget(request: WidgetRequest): Promise<BookableWidget>;
  /** Limits requests per widget. Call it once nothing in the request is wrong: refused requests use up nothing. */
  limitWidget(request: WidgetRequest, widget: BookableWidget): void;
};

/** Guard of one route under /embed-api. */
export function limitWidgetRoute(
  deps: Pick<Deps, "db" | "clock">,
  limits: { perNetwork: number; perWidget: number; message: string },
): WidgetGuard {
  const byNetwork = limitByNetwork(limits.perNetwork);
  const byWidget = limits.perWidget > 0 ? new SharedLimiter({ perMinute: limits.perWidget }) : null;
  const check = (verdict: RateLimitVerdict | undefined) => {
    if (verdict?.isAllowed === false) throw rateLimited(verdict, limits.message);
  };
  return {
    async requireWidget(request) {
      check(byNetwork?.take(toClientNetwork(request.ip), deps.clock.now()));
      return await requireBookableWidget(deps.db, request.params.widget);
    },
    limitWidget(request, { id }) {
      check(byWidget?.take({ key: id, network: toClientNetwork(request.ip) }, deps.clock.now()));
    },
  };
}
