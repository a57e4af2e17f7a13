import { clearDemo, DEMO_DAYS, DEMO_ID, DEMO_NAME, loadDemo, readCredentials } from "../demo/demo.ts";
import { type Command, UsageError } from "./command.ts";

export const DEMO_COMMANDS: readonly Command[] = [
  {
    name: "demo load",
    usage: "demo load",
    summary: `create the organization ${DEMO_NAME} with ${DEMO_DAYS} days of sample visits and bookings`,
    options: [],
    positionals: 0,
    async run(context) {
      context.tell("Loading the demo. This takes a few seconds.");
      const outcome = await loadDemo(context);
      switch (outcome.kind) {
        case "loaded": {
          const { visits, bookings } = outcome;
          const { email, password, apiKey } = await readCredentials(context, context.config);
          return {
            text: `Loaded ${DEMO_ID}  ${DEMO_NAME}: ${visits} visits and ${bookings} bookings from ${DEMO_DAYS} days.\nSign in at ${context.config.baseUrl} as ${email} with the password ${password}\nAPI key ${apiKey}`,
            json: { id: DEMO_ID, visits, bookings, email, password, key: apiKey },
          };
        }
        case "there_already":
          throw new UsageError("The demo is already loaded. Run `demo clear` to delete it.");
        case "address_taken":
          throw new UsageError(`The demo needs the email address ${outcome.email}, but another account uses it.`);
        case "refused":
          throw new UsageError(`The demo could not be imported and was removed again: ${outcome.fault}.`);
        default:
          return outcome satisfies never;
      }
    },
  },
  {
    name: "demo clear",
    usage: "demo clear",
    summary: "delete the demo organization with its members and all its data",
    options: [],
    positionals: 0,
    async run(context) {
      if (!(await clearDemo(context))) throw new UsageError("The demo isn't loaded.");
      return { text: `Deleted ${DEMO_ID}  ${DEMO_NAME} and all its data.`, json: { id: DEMO_ID } };
    },
  },
];
