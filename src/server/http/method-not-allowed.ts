import { METHODS } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "./api-error.ts";

type Watched = { readonly url: string; readonly pattern: RegExp; readonly methods: Set<string> };

/** `refuse` gives a 405 with `Allow` if the path has routes with other methods. A route for each would slow every start. */
export function watchMethods(app: FastifyInstance): { refuse(request: FastifyRequest): ApiError | null } {
  // Fastify answers methods that it doesn't know with a 404 of its own.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const watched = new Map<string, Watched>();
  app.addHook("onRoute", ({ url, method }) => {
    const route = watched.get(url) ?? { url, pattern: toPattern(url), methods: new Set() };
    for (const one of [method].flat()) route.methods.add(one);
    watched.set(url, route);
  });
  let sorted: Watched[] | null = null;
  return {
    refuse({ url, method }) {
      sorted ??= [...watched.values()].sort((a, b) => countUnknowns(a.url) - countUnknowns(b.url));
      const path = toPath(url);
      const methods = sorted.find(({ pattern }) => pattern.test(path))?.methods;
      if (!methods || methods.has(method)) return null;
      const allow = [...methods].sort().join(", ");
      return new ApiError("method_not_allowed", `This URL only supports ${allow}.`, { allow });
    },
  };
}

/** The router ignores a slash at the end. */
function toPattern(url: string): RegExp {
  const parts = url.replace(/\/$/, "").split(/(:\w+|\*)/);
  const source = parts.map((part) => (part === "*" ? ".*" : part.startsWith(":") ? "[^/]+" : RegExp.escape(part)));
  return new RegExp(`^${source.join("")}/?$`);
}

/** As in the router, a fixed path comes before one with parameters, and a wildcard comes last. */
function countUnknowns(url: string): number {
  return url.split(":").length + (url.includes("*") ? 100 : 0);
}

/** An address that can't be decoded is compared as it is. `OPTIONS *` is about the server, so it gets what `/` gets. */
function toPath(url: string): string {
  if (url === "*") return "/";
  const [path = ""] = url.split("?");
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
