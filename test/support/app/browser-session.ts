import type { LightMyRequestResponse } from "fastify";
import type { TestApp } from "./app.ts";

/** A browser's cookies and its page's origin, for requests made in memory. */
export type TestBrowser = {
  readonly cookies: Map<string, string>;
  /** The Set-Cookie lines of the last response. */
  readonly lastSetCookies: string[];
  send(method: "GET" | "POST" | "PATCH" | "DELETE", url: string, payload?: object): Promise<BrowserResponse>;
};

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
export type BrowserResponse = { status: number; body: any; response: LightMyRequestResponse };

export function openBrowser(
  { app, deps }: Pick<TestApp, "app" | "deps">,
  options: { userAgent?: string; remoteAddress?: string; cookie?: string } = {},
): TestBrowser {
  const cookies = new Map<string, string>();
  for (const pair of (options.cookie ?? "").split("; ").filter(Boolean)) keep(cookies, pair);
  const lastSetCookies: string[] = [];
  return {
    cookies,
    lastSetCookies,
    async send(method, url, payload) {
      const response = await app.inject({
        method,
        url,
        remoteAddress: options.remoteAddress ?? "127.0.0.1",
        headers: {
          origin: new URL(deps.config.baseUrl).origin,
          "user-agent": options.userAgent ?? "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
          ...(cookies.size > 0 ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") } : {}),
        },
        ...(payload === undefined ? {} : { payload }),
      });
      const lines = [response.headers["set-cookie"] ?? []].flat();
      lastSetCookies.splice(0, Infinity, ...lines);
      for (const line of lines) {
        const [pair = ""] = line.split(";");
        if (/max-age=0\b/i.test(line)) cookies.delete(pair.split("=")[0] ?? "");
        else keep(cookies, pair);
      }
      const isJson = String(response.headers["content-type"]).startsWith("application/json");
      return { status: response.statusCode, body: isJson ? response.json() : null, response };
    },
  };
}

function keep(cookies: Map<string, string>, pair: string): void {
  const at = pair.indexOf("=");
  cookies.set(pair.slice(0, at), pair.slice(at + 1));
}
