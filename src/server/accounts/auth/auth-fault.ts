import { AUTH_ROUTES } from "#contract/app/routes.ts";
import { ApiError, FieldsError } from "../../http/errors/api-error.ts";
import { FIELD_FAULTS } from "../../http/errors/check-fields.ts";
import { malformedRequest, nothingHere, wentWrong } from "../../http/errors/error-handler.ts";
import { PASSWORD_FAULTS } from "../check-fields.ts";
import type { AllowedAuthRoute } from "./auth-allow-list.ts";
import { notSignedIn } from "./member-auth.ts";
import { TOO_MANY_ATTEMPTS } from "./throttle.ts";

/** Translates better-auth's error codes into our errors. */
export function toAuthError(route: AllowedAuthRoute, fault: { status: number; code: string }): ApiError {
  const isSignIn = route.path === AUTH_ROUTES.signIn.path;
  switch (fault.code) {
    case "INVALID_EMAIL_OR_PASSWORD":
      return wrongCredentials();
    case "INVALID_EMAIL":
      return isSignIn ? wrongCredentials() : new FieldsError({ email: FIELD_FAULTS.notAnEmail });
    case "PASSWORD_TOO_SHORT":
      return passwordFault(route, PASSWORD_FAULTS.tooShort);
    case "PASSWORD_TOO_LONG":
      return isSignIn ? wrongCredentials() : passwordFault(route, PASSWORD_FAULTS.tooLong);
    case "INVALID_PASSWORD":
      return new FieldsError({
        [route.path === AUTH_ROUTES.changePassword.path ? "currentPassword" : "password"]: "Wrong password.",
      });
    case "INVALID_CODE":
    case "INVALID_BACKUP_CODE":
      return new FieldsError({ code: "This code is wrong or has already been used." });
    case "INVALID_TOKEN":
    case "USER_NOT_FOUND":
      return new ApiError("not_found", "This link has expired or has already been used. Request a new one.");
    case "INVALID_TWO_FACTOR_COOKIE":
    case "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE":
      return new ApiError("unauthorized", "Sign in again with your password.");
    case "ACCOUNT_TEMPORARILY_LOCKED":
      return new ApiError("rate_limited", "Too many wrong codes. Try again in 15 minutes.");
    case "TOTP_ALREADY_ENABLED":
      return new ApiError("conflict", "Two-factor authentication is already on.");
    case "TOTP_NOT_ENABLED":
    case "TWO_FACTOR_NOT_ENABLED":
    case "BACKUP_CODES_NOT_ENABLED":
      return new ApiError("conflict", "Two-factor authentication is off.");
    case "CREDENTIAL_ACCOUNT_NOT_FOUND":
      return new ApiError("conflict", "This account has no password yet. Request a link to set one.");
    case "PROVIDER_NOT_FOUND":
      return new ApiError("not_found", "This sign-in method isn't available here.");
    default:
      return toErrorByStatus(fault.status);
  }
}

function wrongCredentials(): ApiError {
  return new ApiError("unauthorized", "Wrong email address or password.");
}

function passwordFault(route: AllowedAuthRoute, sentence: string): ApiError {
  return new FieldsError({ [route.passwordField ?? "password"]: sentence });
}

function toErrorByStatus(status: number): ApiError {
  if (status === 401) return notSignedIn();
  if (status === 403) return new ApiError("forbidden", "You don't have permission to do this.");
  if (status === 404) return nothingHere();
  if (status === 429) return new ApiError("rate_limited", TOO_MANY_ATTEMPTS);
  if (status < 500) return malformedRequest();
  return wentWrong();
}
