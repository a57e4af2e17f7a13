import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MemberRole } from "#contract/app/role.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { openBrowser } from "../../../../test/support/app/browser-session.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeOrganization } from "../../../../test/support/builders.ts";
import { untilSomeoneWaits } from "../../../../test/support/database/count-blocked.ts";
import { deleteMember, lockOwners, updateMemberRole } from "./member-queries.ts";

const testApp = await createTestApp();
const { deps } = testApp;

async function join(organizationId: OrganizationId, role: MemberRole) {
  const person = await signIn(testApp, { role, organizationId });
  return { ...person, browser: openBrowser(testApp, person) };
}

async function roleOf(organizationId: OrganizationId, userId: string): Promise<MemberRole | null> {
  const member = deps.db.selectFrom("members").select("role").where("organization_id", "=", organizationId);
  return (await member.where("user_id", "=", userId).executeTakeFirst())?.role ?? null;
}

test("admins and owners see the organization's members, and no others", async () => {
  const id = await makeOrganization(deps.db);
  const [owner, viewer] = [await join(id, "owner"), await join(id, "viewer")];
  await join(await makeOrganization(deps.db), "owner");
  const { status, body } = await owner.browser.send("GET", "/api/app/members");
  assert.equal(status, 200);
  assert.deepEqual(
    body.data.map((each: { email: string; role: string }) => [each.email, each.role]).sort(),
    [
      [owner.email, "owner"],
      [viewer.email, "viewer"],
    ].sort(),
  );
  assert.deepEqual(Object.keys(body.data[0]), ["userId", "name", "email", "role", "isTwoFactorOn", "joinedAt"]);
  assert.equal((await viewer.browser.send("GET", "/api/app/members")).status, 403);
});

describe("roles", () => {
  // biome-ignore format: one case a line
  const cases: [actor: MemberRole, target: MemberRole, to: string, status: number][] = [
    ["owner", "viewer", "owner", 204],
    ["owner", "owner", "member", 204],
    ["admin", "viewer", "admin", 204],
    ["admin", "admin", "viewer", 204],
    ["admin", "viewer", "owner", 403],
    ["admin", "owner", "viewer", 403],
    ["member", "viewer", "member", 403],
    ["viewer", "viewer", "owner", 403],
    ["owner", "viewer", "king", 422],
  ];
  for (const [actor, target, to, status] of cases)
    test(`${actor} makes ${target} ${to}: ${status}`, async () => {
      const id = await makeOrganization(deps.db);
      await join(id, "owner");
      const [by, of] = [await join(id, actor), await join(id, target)];
      const response = await by.browser.send("PATCH", `/api/app/members/${of.userId}`, { role: to });
      assert.equal(response.status, status);
      assert.equal(await roleOf(id, of.userId), status === 204 ? to : target);
    });
});

describe("removing", () => {
  // biome-ignore format: one case a line
  const cases: [actor: MemberRole, target: MemberRole, status: number][] = [
    ["owner", "owner", 204],
    ["owner", "admin", 204],
    ["admin", "admin", 204],
    ["admin", "owner", 403],
    ["member", "viewer", 403],
    ["viewer", "viewer", 403],
  ];
  for (const [actor, target, status] of cases)
    test(`${actor} removes ${target}: ${status}`, async () => {
      const id = await makeOrganization(deps.db);
      const [by, of] = [await join(id, actor), await join(id, target)];
      assert.equal((await by.browser.send("DELETE", `/api/app/members/${of.userId}`)).status, status);
      const seen = await of.browser.send("GET", "/api/app/organization");
      assert.equal(seen.status, status === 204 ? 403 : 200);
    });

  test("anyone can leave", async () => {
    const id = await makeOrganization(deps.db);
    const viewer = await join(id, "viewer");
    assert.equal((await viewer.browser.send("DELETE", `/api/app/members/${viewer.userId}`)).status, 204);
    assert.equal(await roleOf(id, viewer.userId), null);
  });

  test("the last owner can neither leave nor change role", async () => {
    const id = await makeOrganization(deps.db);
    const owner = await join(id, "owner");
    await join(id, "admin");
    const url = `/api/app/members/${owner.userId}`;
    assert.deepEqual((await owner.browser.send("DELETE", url)).body.error.code, "conflict");
    assert.equal((await owner.browser.send("PATCH", url, { role: "admin" })).status, 409);
    assert.equal((await owner.browser.send("PATCH", url, { role: "owner" })).status, 204);
    assert.equal(await roleOf(id, owner.userId), "owner");
  });

  test("if two owners remove each other at once, one of them stays", async () => {
    for (let i = 0; i < 5; i++) {
      const id = await makeOrganization(deps.db);
      const [a, b] = [await join(id, "owner"), await join(id, "owner")];
      const responses = await Promise.all([
        a.browser.send("DELETE", `/api/app/members/${b.userId}`),
        b.browser.send("PATCH", `/api/app/members/${a.userId}`, { role: "viewer" }),
      ]);
      const roles = [await roleOf(id, a.userId), await roleOf(id, b.userId)];
      assert.equal(roles.filter((role) => role === "owner").length, 1, JSON.stringify(roles));
      assert.equal(responses.filter(({ status }) => status === 204).length, 1);
    }
  });

  test("someone who is removed or loses their role while their request waits can no longer change members", async () => {
    for (const [role, method, isOwn] of [
      [null, "DELETE", false],
      [null, "PATCH", false],
      ["viewer", "DELETE", false],
      ["admin", "DELETE", false],
      ["viewer", "PATCH", true],
    ] as const) {
      const id = await makeOrganization(deps.db);
      const [actor, other] = [await join(id, "owner"), await join(id, "owner")];
      await join(id, "owner");
      const target = isOwn ? actor : other;
      const response = await deps.db.transaction().execute(async (transaction) => {
        await lockOwners(transaction, id);
        const waiting = actor.browser.send(method, `/api/app/members/${target.userId}`, { role: "admin" });
        await untilSomeoneWaits(deps.db);
        if (role === null) await deleteMember(transaction, id, actor.userId);
        else await updateMemberRole(transaction, id, { userId: actor.userId, role });
        return { waiting };
      });
      assert.equal((await response.waiting).status, 403, `${role} ${method}`);
      assert.equal(await roleOf(id, target.userId), isOwn ? role : "owner");
    }
  });

  test("another organization's members are not visible", async () => {
    const owner = await join(await makeOrganization(deps.db), "owner");
    const theirs = await join(await makeOrganization(deps.db), "viewer");
    for (const id of [theirs.userId, "usr_none", "%00"]) {
      assert.equal((await owner.browser.send("DELETE", `/api/app/members/${id}`)).status, 404);
      assert.equal((await owner.browser.send("PATCH", `/api/app/members/${id}`, { role: "owner" })).status, 404);
    }
    assert.equal(await roleOf(theirs.organizationId, theirs.userId), "viewer");
  });
});

test("each change is in the audit log with the person who made it", async () => {
  const id = await makeOrganization(deps.db);
  const [owner, one, two] = [await join(id, "owner"), await join(id, "viewer"), await join(id, "member")];
  await owner.browser.send("PATCH", `/api/app/members/${one.userId}`, { role: "admin" });
  await owner.browser.send("DELETE", `/api/app/members/${one.userId}`);
  await two.browser.send("DELETE", `/api/app/members/${two.userId}`);
  const { data } = (await owner.browser.send("GET", "/api/app/audit")).body;
  const told = data.map((each: { action: string; target: string; actor: { email: string }; detail: object }) => [
    each.action,
    each.target,
    each.actor.email,
    each.detail,
  ]);
  assert.deepEqual(
    told.sort(),
    [
      ["member.role_changed", one.email, owner.email, { from: "viewer", to: "admin" }],
      ["member.removed", one.email, owner.email, { role: "admin" }],
      ["member.left", two.email, two.email, { role: "member" }],
    ].sort(),
  );
});
