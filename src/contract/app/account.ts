import { type Static, Type } from "typebox";
import { PLANS } from "../plans.ts";
import { Timestamp, timestampOf } from "../timestamps.ts";
import { NAME_LENGTH_MAX } from "../widgets/embed-api.ts";
import { bodyOf, line, nullable, oneOf, PreviousValues } from "./forms.ts";
import { ROLES_OF_MEMBERS } from "./role.ts";

/** The schema only sets the type: the routes check each field and name its fault. */
const field = Type.String({ maxLength: 2_000 });

const Role = oneOf(ROLES_OF_MEMBERS);

export const SignInOptions = Type.Object({
  isSetUpNeeded: Type.Boolean({ description: "True until the first owner exists." }),
  isSignUpOpen: Type.Boolean(),
  hasOidc: Type.Boolean(),
  defaultPlan: oneOf(PLANS),
});
export type SignInOptions = Static<typeof SignInOptions>;

export const SetUpRequest = Type.Object({
  token: field,
  name: field,
  email: field,
  password: field,
  organizationName: field,
  timeZone: field,
  plan: Type.Optional(oneOf(PLANS)),
});
export type SetUpRequest = Static<typeof SetUpRequest>;

/** Someone enters their address, and gets a link that proves it. Only then can they choose a name and a password. */
export const SignUpLinkRequest = Type.Object({ email: field });
export type SignUpLinkRequest = Static<typeof SignUpLinkRequest>;
export const SignUpRequest = Type.Object({ token: field, name: field, password: field });
export type SignUpRequest = Static<typeof SignUpRequest>;

const MembershipShape = Type.Object({ id: Type.String(), name: Type.String(), role: Role, plan: oneOf(PLANS) });

export const Me = Type.Object({
  user: Type.Object({
    id: Type.String(),
    name: Type.String(),
    email: Type.String(),
    isTwoFactorOn: Type.Boolean(),
    hasPassword: Type.Boolean(),
    hasOidc: Type.Boolean({ description: "True if the OpenID Connect issuer can sign this person in." }),
  }),
  organizations: Type.Array(MembershipShape),
  current: nullable(Type.String({ description: "The organization that is used unless the request names another." })),
  canCreateOrganization: Type.Boolean(),
});
export type Me = Static<typeof Me>;

export const MeChange = Type.Object({ name: field });
export type MeChange = Static<typeof MeChange>;

export const SignIn = Type.Object({
  id: Type.String(),
  browser: Type.String(),
  isCurrent: Type.Boolean(),
  createdAt: Timestamp,
  lastUsedAt: Timestamp,
  expiresAt: Timestamp,
});
export type SignIn = Static<typeof SignIn>;
export const SignIns = Type.Object({ data: Type.Array(SignIn) });
export type SignIns = Static<typeof SignIns>;

export const OrganizationShape = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    timeZone: Type.String(),
    createdAt: Timestamp,
    logoUrl: nullable(Type.String()),
    plan: Type.Object({
      id: oneOf(PLANS),
      name: Type.String(),
      features: Type.Array(Type.String()),
      retention: Type.String({ description: "How long bookings and analytics are kept, in words." }),
      keptSince: timestampOf("Older bookings and analytics are deleted.", "2024-11-01T12:00:00.000Z"),
    }),
  },
  { title: "Organization" },
);
export type OrganizationShape = Static<typeof OrganizationShape>;

export const OrganizationChange = bodyOf(
  {
    name: Type.Optional(line(NAME_LENGTH_MAX)),
    timeZone: Type.Optional(Type.String({ maxLength: 100, examples: ["Europe/Berlin"] })),
    was: PreviousValues,
  },
  { title: "OrganizationChange", examples: [{ name: "Lindenhof Dental", timeZone: "Europe/Berlin" }] },
);
export type OrganizationChange = Static<typeof OrganizationChange>;
/** A PNG, JPEG or WebP image in base64. */
export const NewLogo = Type.Object({ picture: Type.String() });
export type NewLogo = Static<typeof NewLogo>;
/** The name is typed as confirmation. */
export const OrganizationDeletion = Type.Object({ name: field });
export type OrganizationDeletion = Static<typeof OrganizationDeletion>;
export const NewOrganization = Type.Object({ name: field, timeZone: field });
export type NewOrganization = Static<typeof NewOrganization>;
export const CreatedOrganization = Type.Object({ id: Type.String() });
export type CreatedOrganization = Static<typeof CreatedOrganization>;

export const MemberShape = Type.Object({
  userId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  role: Role,
  isTwoFactorOn: Type.Boolean(),
  joinedAt: Timestamp,
});
export type MemberShape = Static<typeof MemberShape>;
export const MemberList = Type.Object({ data: Type.Array(MemberShape) });
export type MemberList = Static<typeof MemberList>;
export const MemberChange = Type.Object({ role: field, was: PreviousValues });
export type MemberChange = Static<typeof MemberChange>;

export const NewInvitation = Type.Object({ email: field, role: field });
export type NewInvitation = Static<typeof NewInvitation>;
export const InvitationShape = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: Role,
  invitedBy: nullable(Type.String()),
  createdAt: Timestamp,
  expiresAt: Timestamp,
});
export type InvitationShape = Static<typeof InvitationShape>;
export const InvitationList = Type.Object({ data: Type.Array(InvitationShape) });
export type InvitationList = Static<typeof InvitationList>;
/** Whether the link was emailed; `off`: there is no mail server; `too_soon`: the inviter sent the address one in the last minutes. */
const INVITATION_MAILS = ["sent", "off", "failed", "too_soon"] as const;
export type InvitationMail = (typeof INVITATION_MAILS)[number];
export const CreatedInvitation = Type.Object({
  invitation: InvitationShape,
  mail: oneOf(INVITATION_MAILS),
  link: nullable(Type.String({ description: "For the inviter to share; null when it was emailed." })),
});
export type CreatedInvitation = Static<typeof CreatedInvitation>;

export const InvitationToken = Type.Object({ token: field });
export const InvitationPreview = Type.Object({
  organizationName: Type.String(),
  email: Type.String(),
  role: Role,
  expiresAt: Timestamp,
});
export type InvitationPreview = Static<typeof InvitationPreview>;
export const InvitationAcceptance = Type.Object({
  token: field,
  name: Type.Optional(field),
  password: Type.Optional(field),
});
export type InvitationAcceptance = Static<typeof InvitationAcceptance>;
export const JoinedOrganization = Type.Object({ organizationId: Type.String() });
export type JoinedOrganization = Static<typeof JoinedOrganization>;
