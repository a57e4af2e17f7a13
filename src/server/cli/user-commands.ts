import { ROLES_OF_MEMBERS } from "#contract/app/role.ts";
import { NAME_LENGTH_MAX } from "#contract/widgets/embed-api.ts";
import { checkPassword, createUser, hashPassword, insertMember, listMembers } from "../accounts/accounts.ts";
import { auditByOperator } from "../audit/audit.ts";
import { inTransaction } from "../db/statements/transactions.ts";
import { checkEmail } from "../http/errors/check-fields.ts";
import { parseChoice, parseText, requireOrganization, requireValue } from "./arguments.ts";
import { type Command, UsageError } from "./command.ts";

export const USER_COMMANDS: readonly Command[] = [
  {
    name: "user list",
    usage: "user list --org ORG",
    summary: "list an organization's members",
    options: ["org"],
    positionals: 0,
    async run({ db, args }) {
      const { id } = await requireOrganization(db, args.required("org"));
      const members = (await listMembers(db, id)).map(({ user_id, name, email, role }) => ({
        id: user_id,
        name,
        email,
        role,
      }));
      const lines = members.map((member) => `${member.id}  ${member.email}, ${member.role}`);
      return { text: lines.join("\n") || "No members.", json: members };
    },
  },
  {
    name: "user create",
    usage: "user create --org ORG --email EMAIL --password PASSWORD|- [--role owner|admin|member|viewer] [--name NAME]",
    summary: "create a user; --password - reads the password from standard input",
    options: ["org", "email", "password", "role", "name"],
    positionals: 0,
    async run({ db, args, clock, random, readInput }) {
      const organization = await requireOrganization(db, args.required("org"));
      const email = requireValue("email", checkEmail(args.required("email")));
      const role = parseChoice("role", args.option("role") ?? "owner", ROLES_OF_MEMBERS);
      const name = parseText("name", args.option("name") ?? email.split("@")[0] ?? email, NAME_LENGTH_MAX);
      const given = args.required("password");
      // A password on the command line would stay in the shell's history and appear in the process list.
      const password = requireValue("password", checkPassword(given === "-" ? await readInput() : given));
      const passwordHash = await hashPassword({ random }, password);
      const at = clock.now();
      const userId = await inTransaction(db, async (transaction) => {
        const person = { name, email, passwordHash, isEmailProven: true };
        const user = await createUser({ db: transaction, clock, random }, person);
        if (!user) throw new UsageError("This email address already has an account. Invite the person instead.");
        const member = { organization_id: organization.id, user_id: user.userId, role, created_at: at };
        await insertMember(transaction, { ...member, last_used_at: null });
        await auditByOperator(
          { random },
          organization.id,
          at,
        )(transaction, {
          action: "member.added",
          target: email,
          detail: { role },
        });
        return user.userId;
      });
      return {
        text: `Created ${userId}  ${email}, ${role} of ${organization.name}.`,
        json: { id: userId, email, role },
      };
    },
  },
];
