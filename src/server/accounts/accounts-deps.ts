import { assert } from "../lib/assert.ts";
import type { AuthParts } from "./auth/auth.ts";
import { DeviceCookie } from "./auth/device-cookie.ts";
import { rethrowDatabaseErrors } from "./auth/library-faults.ts";
import { deleteSessions } from "./auth/session-queries.ts";
import { Throttle } from "./auth/throttle.ts";
import { deleteResetLinks } from "./auth/verification-queries.ts";
import { auditPerson } from "./members/audit-person.ts";
import { findUser, markEmailProven } from "./queries.ts";

/** A person who is signed in. */
export type Person = {
  userId: string;
  email: string;
  isEmailProven: boolean;
  name: string;
  sessionId: string;
  isTwoFactorOn: boolean;
};

/** What the rest of the service sees of better-auth. */
type Auth = {
  /** Answers a request to /api/auth. */
  handle(request: Request): Promise<Response>;
  /** The person whose session the cookie holds, or null. `cookies` must be sent back: they renew the session. */
  readSession(cookie: string): Promise<{ person: Person | null; cookies: string[] }>;
  /** Checks a password and starts a session. Returns the cookies to send, or null. With two-factor on, they lead to the second step. */
  signIn(credentials: { email: string; password: string; userAgent: string }): Promise<string[] | null>;
};

export type AccountsDeps = { readonly auth: Auth; readonly throttle: Throttle; readonly deviceCookie: DeviceCookie };

export function createAccountsDeps(parts: Omit<AuthParts, keyof Callbacks>): AccountsDeps {
  // Loaded by the first request that needs it, which takes a second longer. Workers and commands never need it, and it takes 20 MB
  // of memory.
  const open = async () => (await import("./auth/auth.ts")).createBetterAuth({ ...parts, ...toCallbacks(parts) });
  let opened: ReturnType<typeof open> | null = null;
  const use = async <T>(work: (library: Awaited<ReturnType<typeof open>>) => Promise<T>): Promise<T> => {
    opened ??= open();
    const library = await opened;
    return await rethrowDatabaseErrors(() => work(library));
  };
  return {
    throttle: new Throttle(parts),
    deviceCookie: new DeviceCookie(parts),
    auth: {
      handle: (request) => use((library) => library.handler(request)),
      async readSession(cookie) {
        const { response, headers } = await use((library) =>
          library.api.getSession({ headers: new Headers({ cookie }), returnHeaders: true }).catch(toNoSession),
        );
        // Without a session, better-auth deletes the cookie. The browser may have got a new one since it sent this request.
        if (!response) return { person: null, cookies: [] };
        const person = {
          userId: response.user.id,
          email: response.user.email,
          isEmailProven: response.user.emailVerified,
          name: response.user.name,
          sessionId: response.session.id,
          isTwoFactorOn: response.user.twoFactorEnabled === true,
        };
        return { person, cookies: headers.getSetCookie() };
      },
      async signIn({ email, password, userAgent }) {
        const response = await use((library) =>
          library.api.signInEmail({
            body: { email, password },
            headers: new Headers({ "user-agent": userAgent }),
            asResponse: true,
          }),
        );
        return response.ok ? response.headers.getSetCookie() : null;
      },
    },
  };
}

type Callbacks = Pick<AuthParts, "onPasswordReset" | "onOidcConnected">;

function toCallbacks({ db, clock, random, log }: Omit<AuthParts, keyof Callbacks>): Callbacks {
  return {
    // The new password is already saved, so the sessions end first: whatever fails after that must not leave anyone signed in.
    async onPasswordReset(user) {
      await deleteSessions(db, user.id);
      await deleteResetLinks(db, user.id);
      // The link was sent to the address.
      await markEmailProven(db, user.id);
      await auditPerson({ db, clock, random }, { user, action: "user.password_reset" }).catch((error: unknown) =>
        log.error("accounts.reset_not_audited", { error }),
      );
    },
    async onOidcConnected(userId) {
      const user = await findUser(db, userId);
      assert(user, "the account belongs to someone");
      await auditPerson({ db, clock, random }, { user, action: "user.oidc_connected" }).catch((error: unknown) =>
        log.error("accounts.connection_not_audited", { error }),
      );
    },
  };
}

/** better-auth answers 401 if a session ends while it is being renewed. */
function toNoSession(error: unknown): { response: null; headers: Headers } {
  if ((error as { statusCode?: unknown }).statusCode !== 401) throw error;
  return { response: null, headers: new Headers() };
}
