import { METHODS } from "node:http";
import type { FastifyInstance, HTTPMethods } from "fastify";
import { ApiError } from "./api-error.ts";

/** Watches the routes being added, and answers 405 with `Allow` to every other method on their paths. */
export function watchMethods(app: FastifyInstance): { refuseOthers(): void } {
  // Fastify only knows the common methods; without this, a PROPFIND would get a 404.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const methodsByUrl = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const methods = methodsByUrl.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    methodsByUrl.set(url, methods);
  });
  return {
    refuseOthers() {
      for (const [url, methods] of [...methodsByUrl]) {
        const allow = [...methods].sort().join(", ");
        const refuse = async () => {
          throw new ApiError("method_not_allowed", `This address only supports ${allow}.`, { allow });
        };
        const others = app.supportedMethods.filter((method) => !methods.has(method)) as HTTPMethods[];
        // Refused in onRequest, so the body is never read.
        app.route({ method: others, url, schema: { hide: true }, onRequest: refuse, handler: refuse });
      }
    },
  };
}
