import { registerHooks } from "node:module";

// For programs that must not load the AWS library.

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith("@aws-sdk/")) {
      process.stderr.write("The AWS library was loaded\n");
      process.exit(1);
    }
    return next(specifier, context);
  },
});
