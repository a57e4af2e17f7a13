import type { FastifyInstance, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import {
  type AnswerOf,
  type RequestBodyOf,
  ROUTE_TABLE,
  type TableRoute,
  type TableRouteName,
} from "#contract/app/routes.ts";
import { type AuditRow, findAuditEntry } from "../../audit/audit.ts";
import type { Deps } from "../../deps.ts";
import { bodyReader } from "../../http/body.ts";
import { chooseAuditId } from "../../http/idempotency-key.ts";
import type { Query } from "../../http/parameters.ts";
import { type Member, memberOf } from "./member-auth.ts";

type ParamsOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : object;

/** The command line has no headers. */
type TableRequest = Pick<FastifyRequest, "headers" | "url">;

/** A request to a route of the table, by a member or a key of the organization. Its body is as the table says. */
type Call<Name extends TableRouteName> = {
  member: Member;
  params: ParamsOf<(typeof ROUTE_TABLE)[Name]["path"]>;
  query: Query;
  body: RequestBodyOf<(typeof ROUTE_TABLE)[Name]>;
  request: TableRequest;
};

type Handle<Name extends TableRouteName> = (call: Call<Name>) => Promise<AnswerOf<(typeof ROUTE_TABLE)[Name]>>;

/** What the first request did, in the words of the audit log. */
type Done = Pick<AuditRow, "target" | "detail">;
/** Answers a request that was already done, without doing it again. */
type Repeat<Name extends TableRouteName> = (
  call: Call<Name>,
  done: Done,
) => Promise<AnswerOf<(typeof ROUTE_TABLE)[Name]>>;

/** Where routes of the table are added, by name. */
export type Routes = {
  add<Name extends TableRouteName>(name: Name, handle: Handle<Name>, repeat?: Repeat<Name>): void;
};

/** What is in the table but not served here is left out. */
export function tableRoutes(
  api: FastifyInstance,
  { db }: Pick<Deps, "db">,
  isServed: (route: TableRoute) => boolean = () => true,
): Routes {
  return {
    add(name, handle, repeat) {
      const route: TableRoute = ROUTE_TABLE[name];
      if (!isServed(route)) return;
      const readBody = route.body ? bodyReader<TSchema>(route.body) : () => undefined;
      const status = route.status ?? (route.answer ? 200 : 204);
      api.route({
        method: route.method,
        url: route.path,
        schema: route.answer ? { response: { [status]: route.answer } } : {},
        handler: async (request, reply) => {
          // The table is typed by name; a request is not.
          const call = {
            member: memberOf(request),
            params: request.params,
            query: request.query,
            body: readBody(request),
            request,
          } as Parameters<typeof handle>[0];
          const answer = await (repeat ? doOnce(db, call, { handle, repeat }) : handle(call));
          return reply.code(status).send(status === 204 ? undefined : answer);
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
