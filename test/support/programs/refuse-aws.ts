import { registerHooks } from "node:module";

// For programs that must not load the AWS library.

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith("@aws-sdk/")) throw new Error("The AWS library was loaded");
    return next(specifier, context);
  },
});
