import type { FastifyInstance, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import {
  ACCOUNT_ROUTES,
  type AccountRoute,
  type AnswerOf,
  APP_ROUTES,
  type AppRoute,
  type RequestBodyOf,
} from "#contract/app/routes.ts";
import { bodyReader } from "../../http/body.ts";
import type { Query } from "../../http/parameters.ts";
import { type Member, memberOf } from "./member-auth.ts";

const TABLE = { ...APP_ROUTES, ...ACCOUNT_ROUTES };
type RouteName = keyof typeof TABLE;
type TableRoute = AppRoute | AccountRoute;

type ParamsOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : object;

/** A request to a route of the table, by a member or a key of the organization. Its body is as the table says. */
type Call<Name extends RouteName> = {
  member: Member;
  params: ParamsOf<(typeof TABLE)[Name]["path"]>;
  query: Query;
  body: RequestBodyOf<(typeof TABLE)[Name]>;
  request: FastifyRequest;
};

type Handle<Name extends RouteName> = (call: Call<Name>) => Promise<AnswerOf<(typeof TABLE)[Name]>>;

/** Where routes of the table are added, by name. */
export type Routes = { add<Name extends RouteName>(name: Name, handle: Handle<Name>): void };

/** What is in the table but not served here is left out. */
export function tableRoutes(api: FastifyInstance, isServed: (route: TableRoute) => boolean = () => true): Routes {
  return {
    add(name, handle) {
      const route: TableRoute = TABLE[name];
      if (!isServed(route)) return;
      const readBody = toBodyReader(route);
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
          const answer = await handle(call);
          return reply.code(status).send(status === 204 ? undefined : answer);
        },
      });
    },
  };
}

function toBodyReader({ body, hasOptionalBody }: TableRoute): (request: FastifyRequest) => unknown {
  if (!body) return () => undefined;
  const read = bodyReader<TSchema>(body);
  return (request) => (hasOptionalBody && request.body == null ? {} : read(request));
}
