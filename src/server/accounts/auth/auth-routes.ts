import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { AUTH_PREFIX } from "#contract/app/routes.ts";
import type { Deps } from "../../deps.ts";
import { OPEN_BODY_MAX_BYTES } from "../../http/body.ts";
import { ApiError } from "../../http/errors/api-error.ts";
import type { AccountsDeps, Person } from "../accounts-deps.ts";
import { auditPerson } from "../members/audit-person.ts";
import { ALLOWED_POST_ROUTES, type AllowedAuthRoute, OIDC_PROVIDER } from "./auth-allow-list.ts";
import { toAuthError } from "./auth-fault.ts";
import { findPerson } from "./member-auth.ts";
import { requireOwnOrigin } from "./origin-check.ts";
import { deleteSessionByToken } from "./session-queries.ts";
import type { Attempt } from "./throttle.ts";
import { deleteResetLinks, takeTotpCode } from "./verification-queries.ts";

type AuthRouteDeps = Pick<Deps, "config" | "db" | "clock" | "random" | "log"> & { readonly accounts: AccountsDeps };
type AuthUser = { id: string; email: string };
type Body = Record<string, unknown>;

const OWN_ORIGIN = "https://bookflow.invalid";

/** /api/auth: better-auth behind our own origin check, rate limit, list of routes and error shape. */
export async function authRoutes(app: FastifyInstance, deps: AuthRouteDeps): Promise<void> {
  await app.register(
    async (scope) => {
      scope.addHook("onRequest", async (request) => requireOwnOrigin(deps.config, request));
      for (const route of ALLOWED_POST_ROUTES)
        scope.post<{ Body: unknown }>(
          route.path,
          { bodyLimit: OPEN_BODY_MAX_BYTES, schema: { hide: true } },
          (request, reply) => passThrough(deps, route, request, reply),
        );
      if (deps.config.oidcIssuer !== null)
        scope.get(`/callback/${OIDC_PROVIDER}`, { schema: { hide: true } }, (request, reply) =>
          comeBack(deps, request, reply),
        );
    },
    { prefix: AUTH_PREFIX },
  );
}

async function passThrough(
  deps: AuthRouteDeps,
  route: AllowedAuthRoute,
  request: FastifyRequest<{ Body: unknown }>,
  reply: FastifyReply,
): Promise<unknown> {
  const body = toPassedOn(route, request.body);
  requireOwnPages(route, body);
  if (route.isThrottled) deps.accounts.throttle.take(request, readAttempt(deps, route, { request, body }));
  const before = route.audit?.signedIn ? await findPerson(deps, request, reply) : null;
  // A person who is signed in sends a code to turn two-factor on. better-auth also accepts one if it is on already.
  if (route.codeField && before?.isTwoFactorOn) throw toAuthError(route, { status: 400, code: "TOTP_ALREADY_ENABLED" });

  const response = await deps.accounts.auth.handle(toWebRequest(deps, request, JSON.stringify(body)));
  const cookies = response.headers.getSetCookie();
  const result = await readJson(response);
  if (!response.ok) throw toAuthError(route, { status: response.status, code: String(result["code"] ?? "") });
  // No user yet means that the second factor is still to come.
  const user = before ? toAuthUser(before) : (result["user"] as AuthUser | undefined);
  const action = before ? route.audit?.signedIn : route.audit?.comingIn;
  if (user) {
    await requireUnusedCode(deps, route, { user, result, code: String(body[route.codeField ?? ""] ?? "") });
    if (action === "user.signed_in" && isRemembered(cookies)) cookies.push(deps.accounts.deviceCookie.make(user.email));
  }
  // Set before anything else can fail: after a password change, the previous cookie no longer works.
  if (cookies.length > 0) reply.header("set-cookie", cookies);
  if (user && route.voidsResetLinks) await deleteResetLinks(deps.db, user.id);
  if (user && action) await auditPerson(deps, { user, action });
  // The token belongs in the cookie only, where no script can read it.
  const { token: _token, ...shown } = result;
  return reply.code(response.status).send(shown);
}

/** The browser returns from the OpenID Connect issuer. Every outcome is a redirect to one of our pages. */
async function comeBack(deps: AuthRouteDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  deps.accounts.throttle.take(request);
  const response = await deps.accounts.auth.handle(toWebRequest(deps, request, null));
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) reply.header("set-cookie", cookies);
  const { person } = await deps.accounts.auth.readSession(cookies.map((line) => line.split(";")[0]).join("; "));
  if (person) await auditPerson(deps, { user: toAuthUser(person), action: "user.signed_in" });
  const page = new URL(response.headers.get("location") ?? `${ENTRY_PAGES.signIn}?error=oidc`, deps.config.baseUrl);
  const { twoFactorRedirect } = await readJson(response);
  return reply.redirect(twoFactorRedirect === true ? toCodePage(page) : withPlainError(page).href, 302);
}

/** The second step of signing in, which then continues to the page the person asked for. */
function toCodePage({ pathname, search }: URL): string {
  return `${ENTRY_PAGES.signIn}?${new URLSearchParams({ step: "code", next: pathname + search })}`;
}

/** better-auth's error codes would tell anyone whose issuer invents addresses which of them have an account. */
function withPlainError(page: URL): URL {
  if (!page.searchParams.has("error")) return page;
  page.searchParams.set("error", "oidc");
  page.searchParams.delete("error_description");
  return page;
}

function toPassedOn(route: AllowedAuthRoute, body: unknown): Body {
  const given = (typeof body === "object" && body !== null ? body : {}) as Body;
  const picked = route.fields.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]);
  return { ...Object.fromEntries(picked), ...route.fixed };
}

function requireOwnPages(route: AllowedAuthRoute, body: Body): void {
  for (const name of route.pages ?? []) {
    if (Object.hasOwn(body, name) && !isOwnPath(String(body[name])))
      throw new ApiError("forbidden", `${name} must be a path on this site.`);
  }
}

/** Judged as a browser resolves it: `//host`, `/\\host` and `/.//host` all lead to another host. */
function isOwnPath(text: string): boolean {
  const url = URL.parse(text, OWN_ORIGIN);
  return text.startsWith("/") && url?.origin === OWN_ORIGIN && !url.pathname.startsWith("//");
}

function readAttempt(
  deps: AuthRouteDeps,
  route: AllowedAuthRoute,
  { request, body }: { request: FastifyRequest; body: Body },
): Attempt {
  const { deviceCookie } = deps.accounts;
  const { cookie } = request.headers;
  if (!route.account) return { email: null, knownDevice: deviceCookie.readAccount(cookie) };
  const email = body[route.account];
  if (typeof email !== "string") return { email: null, knownDevice: null };
  return { email, knownDevice: deviceCookie.read(cookie, email) };
}

/** False on a shared computer, where the session cookie ends with the browser. */
function isRemembered(cookies: readonly string[]): boolean {
  return cookies.some((line) => /session_token=[^;]+;.*Max-Age=[1-9]/i.test(line));
}

/** A code that was used before ends the session it has just opened; nobody has been given its cookie yet. */
async function requireUnusedCode(
  deps: AuthRouteDeps,
  route: AllowedAuthRoute,
  { user, result, code }: { user: AuthUser; result: Body; code: string },
): Promise<void> {
  if (!route.codeField) return;
  if (await takeTotpCode(deps.db, { userId: user.id, code, now: deps.clock.now() })) return;
  const { token } = result;
  if (typeof token === "string") await deleteSessionByToken(deps.db, token);
  throw toAuthError(route, { status: 401, code: "INVALID_CODE" });
}

/** Passes on only what better-auth needs, which does not include the caller's IP address. */
function toWebRequest(deps: AuthRouteDeps, request: FastifyRequest, body: string | null): Request {
  const headers = new Headers();
  for (const name of ["cookie", "origin", "host", "user-agent"]) {
    const value = request.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  if (body !== null) headers.set("content-type", "application/json");
  const url = new URL(request.url, new URL(deps.config.baseUrl).origin);
  return new Request(url, { method: request.method, headers, body });
}

async function readJson(response: Response): Promise<Body> {
  const text = await response.text();
  if (text === "") return {};
  return (JSON.parse(text) ?? {}) as Body;
}

function toAuthUser({ userId, email }: Person): AuthUser {
  return { id: userId, email };
}
