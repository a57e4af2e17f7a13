import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { TSchema } from "typebox";
import type { MemberRole } from "#contract/app/role.ts";
import {
  APP_PREFIX,
  AUTH_PREFIX,
  AUTH_ROUTES,
  type RequestBodyOf,
  type ResponseOf,
  ROUTE_TABLE,
  type TableRouteName,
} from "#contract/app/routes.ts";
import { type Query, send, toAddress } from "./client.ts";

const ROUTES = { ...ROUTE_TABLE, ...AUTH_ROUTES };

/** better-auth has no schemas of its routes. */
type AuthCalls = {
  /** `twoFactorRedirect`: the password was right, and a code is needed next. */
  signIn: { response: { twoFactorRedirect?: boolean }; body: { email: string; password: string } };
  /** `url`: the sign-in page of the OpenID Connect issuer. */
  signInWithOidc: { response: { url: string }; body: { callbackURL: string; errorCallbackURL: string } };
  connectOidc: { response: { url: string }; body: { callbackURL: string; errorCallbackURL: string } };
  signInWithCode: { response: unknown; body: { code: string } };
  signInWithRecoveryCode: { response: unknown; body: { code: string } };
  signOut: { response: unknown; body: object };
  requestPasswordReset: { response: unknown; body: { email: string } };
  resetPassword: { response: unknown; body: { token: string; newPassword: string } };
  changePassword: { response: unknown; body: { currentPassword: string; newPassword: string } };
  enableTwoFactor: { response: { totpURI: string; backupCodes: string[] }; body: { password: string } };
  confirmTwoFactor: { response: unknown; body: { code: string } };
  disableTwoFactor: { response: unknown; body: { password: string } };
  createRecoveryCodes: { response: { backupCodes: string[] }; body: { password: string } };
};

/** CSV files are links: see download below. */
type CallName = Exclude<TableRouteName, `export${string}`> | keyof AuthCalls;
type CallResponse<Name extends CallName> = Name extends keyof AuthCalls
  ? AuthCalls[Name]["response"]
  : Name extends TableRouteName
    ? ResponseOf<(typeof ROUTE_TABLE)[Name]>
    : never;
type BodyOf<Name extends CallName> = (typeof ROUTES)[Name] extends { body: TSchema }
  ? { body: RequestBodyOf<(typeof ROUTES)[Name]> }
  : Name extends keyof AuthCalls
    ? Pick<AuthCalls[Name], "body">
    : { body?: never };
/** Only routes that need a role belong to an organization. */
type OrganizationOf<Name extends CallName> = (typeof ROUTES)[Name]["role"] extends MemberRole
  ? { organization: string }
  : { organization?: never };

type CallOptions = {
  /** Fills the `:name` parts of the route's path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  /** See hooks/use-idempotency-key.ts. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

/** Calls a route by its name in the contract: `call("getWidget", { organization, params: { widget: id } })`. */
export async function call<Name extends CallName>(
  name: Name,
  { params, ...request }: CallOptions & OrganizationOf<Name> & BodyOf<Name>,
): Promise<CallResponse<Name>> {
  const { method, role } = ROUTES[name];
  // To getMe a 401 is an ordinary response: shell/AppGate.tsx asks it whether anyone is signed in.
  const isEntry = role === "anyone" || name === "getMe";
  return await send({ method, path: pathOf(name, params), isEntry, ...request });
}

/** What a screen reads with one call. The key of an organization's data starts with its id. */
export function ask<Name extends CallName>(
  name: Name,
  queryKey: readonly unknown[],
  request: Omit<CallOptions, "signal"> & OrganizationOf<Name> & BodyOf<Name>,
) {
  return queryOptions({ queryKey, queryFn: ({ signal }) => call(name, { ...request, signal }) });
}

const PAGE_SIZE = 50;

type ListName = "listBookings" | "listDeliveries" | "listAuditEntries";

/** A list that is read page by page. The previous list stays on screen while another one loads. `query` is made anew for each page. */
export function askPages<Name extends ListName>(
  name: Name,
  queryKey: readonly unknown[],
  request: Omit<CallOptions, "signal"> & OrganizationOf<Name> & BodyOf<Name>,
  query: () => Query,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) =>
      call(name, {
        ...request,
        signal,
        query: { limit: String(PAGE_SIZE), ...query(), cursor: pageParam ?? undefined },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
}

function addressOf(name: keyof typeof ROUTES, query: NonNullable<CallOptions["query"]>): string {
  return toAddress(pathOf(name), query);
}

function pathOf(name: keyof typeof ROUTES, params: CallOptions["params"] = {}): string {
  const prefix = name in AUTH_ROUTES ? AUTH_PREFIX : APP_PREFIX;
  return prefix + ROUTES[name].path.replaceAll(/:(\w+)/g, (_, key) => encodeURIComponent(params[key] ?? ""));
}

export type ExportName = Extract<TableRouteName, `export${string}`>;

/** A link can't show a refusal, so a dry run of the same request goes first and reports any fault. */
export async function download(
  route: ExportName,
  { organization, query }: { organization: string; query: Query },
): Promise<void> {
  await send({ method: "GET", path: addressOf(route, { ...query, organization, dryRun: "true" }) });
  // The response names the file.
  Object.assign(document.createElement("a"), {
    href: addressOf(route, { ...query, organization }),
    download: "",
  }).click();
}
