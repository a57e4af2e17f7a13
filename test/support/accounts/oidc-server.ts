import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { after } from "node:test";

/** Who the issuer says is signing in, and which claims it gets wrong. */
export type OidcPerson = {
  sub: string;
  email: string;
  /** Issuers send more than true and false. */
  email_verified?: unknown;
  name?: string;
  nonce?: string;
  aud?: string;
  iss?: string;
};

type OidcServer = {
  issuer: string;
  /** Signs in as a browser would, and returns the address the browser is redirected to. */
  authorize(url: string, person: OidcPerson): string;
  /** Who signs in when a browser opens its page. */
  visitor: OidcPerson | null;
};

export const OIDC_CLIENT = { id: "bookflow", secret: "a client secret" };

const KEY_ID = "key-1";

/** An OpenID Connect issuer with discovery, PKCE, a nonce and RS256, as the specification requires. */
export async function openOidcServer(): Promise<OidcServer> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const codes = new Map<string, { person: OidcPerson; challenge: string; nonce: string; redirect: string }>();
  let issuer = "";

  const toIdToken = (claims: object) => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const text = `${encode({ alg: "RS256", kid: KEY_ID, typ: "JWT" })}.${encode(claims)}`;
    return `${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
  };

  const exchange = (form: URLSearchParams): { status: number; body: object } => {
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isClient = form.get("client_id") === OIDC_CLIENT.id && form.get("client_secret") === OIDC_CLIENT.secret;
    if (!code || !isClient || proof !== code.challenge || form.get("redirect_uri") !== code.redirect)
      return { status: 400, body: { error: "invalid_grant" } };
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: OIDC_CLIENT.id, nonce: code.nonce, iat, exp: iat + 300, ...code.person };
    return {
      status: 200,
      body: { access_token: randomUUID(), token_type: "Bearer", expires_in: 300, id_token: toIdToken(claims) },
    };
  };

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const send = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url === "/.well-known/openid-configuration")
      return send(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ["RS256"],
      });
    if (request.url === "/jwks")
      return send(200, { keys: [{ ...publicKey.export({ format: "jwk" }), kid: KEY_ID, alg: "RS256", use: "sig" }] });
    if (request.url?.startsWith("/authorize?") && oidc.visitor)
      return response.writeHead(302, { location: oidc.authorize(issuer + request.url, oidc.visitor) }).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { status, body } = exchange(new URLSearchParams(Buffer.concat(chunks).toString()));
    return send(status, body);
  };
  const server = createServer((request, response) => void serve(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  const address = server.address();
  issuer = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;

  const oidc: OidcServer = {
    issuer,
    visitor: null,
    authorize(url, person) {
      const asked = new URL(url).searchParams;
      const code = randomUUID();
      const redirect = asked.get("redirect_uri") ?? "";
      codes.set(code, {
        person,
        challenge: asked.get("code_challenge") ?? "",
        nonce: asked.get("nonce") ?? "",
        redirect,
      });
      return `${redirect}?${new URLSearchParams({ code, state: asked.get("state") ?? "", iss: issuer })}`;
    },
  };
  return oidc;
}
