import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from "fastify";
import type { TSchema } from "typebox";
import {
  type RequestBodyOf,
  type ResponseOf,
  ROUTE_TABLE,
  type TableRoute,
  type TableRouteName,
} from "#contract/app/routes.ts";
import { type AuditRow, findAuditEntry } from "../../audit/audit.ts";
import type { Deps } from "../../deps.ts";
import { bodyReader } from "../../http/body.ts";
import { chooseAuditId } from "../../http/idempotency-key.ts";
import type { Query } from "../../http/parameters.ts";
import type { Person } from "../accounts-deps.ts";
import type { Member } from "./member-auth.ts";

type ParamsOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : object;

/** The command line has no headers. */
type TableRequest = Pick<FastifyRequest, "headers" | "url">;

/** Who asks, as the route's role says: anyone, a person who is signed in, or a member or a key of the organization. */
type CallerOf<Role> = Role extends "anyone" ? object : Role extends "person" ? { person: Person } : { member: Member };

/** A request to a route of the table. Its body is as the table says. */
type Call<Name extends TableRouteName, Request> = CallerOf<(typeof ROUTE_TABLE)[Name]["role"]> & {
  params: ParamsOf<(typeof ROUTE_TABLE)[Name]["path"]>;
  query: Query;
  body: RequestBodyOf<(typeof ROUTE_TABLE)[Name]>;
} & Request;
type TableCall<Name extends TableRouteName> = Call<Name, { request: TableRequest }>;
type HttpCall<Name extends TableRouteName> = Call<Name, { request: FastifyRequest; reply: FastifyReply }>;

type RouteResponse<Name extends TableRouteName> = Promise<ResponseOf<(typeof ROUTE_TABLE)[Name]>>;

/** What the first request did, in the words of the audit log. */
type Done = Pick<AuditRow, "target" | "detail">;
/** Responds to a request that was already done, without doing it again. */
type Repeat<Name extends TableRouteName> = (call: TableCall<Name>, done: Done) => RouteResponse<Name>;

/** Where routes of the table are added, by name. */
export type Routes = {
  add<Name extends TableRouteName>(
    name: Name,
    handle: (call: TableCall<Name>) => RouteResponse<Name>,
    repeat?: Repeat<Name>,
  ): void;
};

/** For routes that only HTTP serves. One that sends a file returns its reply. */
export type HttpRoutes = {
  add<Name extends TableRouteName>(
    name: Name,
    handle: (call: HttpCall<Name>) => RouteResponse<Name> | Promise<FastifyReply>,
    repeat?: Repeat<Name>,
  ): void;
};

/** `toOptions` says how a route is guarded, or null if it isn't served here. */
export function tableRoutes(
  api: FastifyInstance,
  { db }: Pick<Deps, "db">,
  toOptions: (route: TableRoute, name: TableRouteName) => RouteShorthandOptions | null,
): HttpRoutes {
  return {
    add(name, handle, repeat) {
      const route: TableRoute = ROUTE_TABLE[name];
      const options = toOptions(route, name);
      if (options === null) return;
      const readBody = route.body ? bodyReader<TSchema>(route.body) : () => undefined;
      const status = route.status ?? (route.response ? 200 : 204);
      api.route({
        ...options,
        method: route.method,
        url: route.path,
        schema: { ...(route.response ? { response: { [status]: route.response } } : {}), ...options.schema },
        // Not for files: the audit log would show an export that never happened.
        exposeHeadRoute: route.response !== undefined,
        handler: async (request, reply) => {
          const { params, query, person, member } = request;
          // The table is typed by name; a request is not.
          const call = { params, query, body: readBody(request), person, member, request, reply };
          const run = handle as (given: object) => Promise<unknown>;
          const response = await (repeat && member
            ? doOnce(
                db,
                { ...call, member },
                { handle: run, repeat: repeat as (given: object, done: Done) => Promise<unknown> },
              )
            : run(call));
          if (response === reply) return reply;
          return reply.code(status).send(status === 204 ? undefined : response);
        },
      });
    },
  };
}

/**
 * A request with an Idempotency-Key writes its audit entry under an id derived from it, in the transaction that does the work. So the
 * entry tells whether the work is done, and a second transaction that does the same fails.
 */
async function doOnce<C extends { member: Member; request: TableRequest }, A>(
  db: Deps["db"],
  call: C,
  { handle, repeat }: { handle: (call: C) => Promise<A>; repeat: (call: C, done: Done) => Promise<A> },
): Promise<A> {
  const { member, request } = call;
  const auditId = chooseAuditId(request, member.organizationId);
  if (auditId === null) return await handle(call);
  const findDone = async () => await findAuditEntry(db, member.organizationId, auditId);
  const before = await findDone();
  if (before) return await repeat(call, before);
  try {
    return await handle({ ...call, member: { ...member, auditId } });
  } catch (error) {
    const meanwhile = await findDone();
    if (meanwhile === null) throw error;
    return await repeat(call, meanwhile);
  }
}
