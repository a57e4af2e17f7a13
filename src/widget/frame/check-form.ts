import type { FormValues, Service } from "./flow.ts";
import type { Texts } from "./texts/texts.ts";

/** Errors by field path, named as the server names them, in the order of the form. */
export type FormFaults = ReadonlyMap<string, string>;

/** The same rules as on the server, which checks them again. */
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const PHONE = /^\+[1-9]\d{6,14}$/;
const NUMBER = /^-?\d{1,15}(\.\d{1,15}|,(?!\d{3}$)\d{1,15})?$/;

export function checkForm(values: FormValues, service: Service, texts: Texts): FormFaults {
  const faults = new Map<string, string>();
  if (values.name.trim() === "") faults.set("customer.name", texts.nameMissing);
  if (values.email.trim() === "") faults.set("customer.email", texts.emailMissing);
  else if (!EMAIL.test(values.email.trim())) faults.set("customer.email", texts.emailWrong);
  if (service.phoneRequired && !isPhone(values.phone)) faults.set("customer.phone", texts.phoneWrong);
  for (const { id, type, required } of service.questions) {
    const answer = (values.answers[id] ?? "").trim();
    if (required && answer === "") faults.set(`answers.${id}`, texts.answerMissing);
    if (type === "number" && answer !== "" && !NUMBER.test(answer)) faults.set(`answers.${id}`, texts.numberWrong);
    if (type === "phone" && answer !== "" && !isPhone(answer)) faults.set(`answers.${id}`, texts.phoneWrong);
  }
  return faults;
}

function isPhone(text: string): boolean {
  return PHONE.test(text.replace(/[\s().-]/g, ""));
}

/** The server's error in the visitor's language. Null if it's not about what they entered. */
export function toFormFaults(fields: readonly string[], service: Service, texts: Texts): FormFaults | null {
  const said: Record<string, string> = {
    "customer.name": texts.tooLong,
    "customer.email": texts.emailWrong,
    "customer.phone": service.phoneRequired ? texts.phoneWrong : texts.tooLong,
    "customer.notes": texts.tooLong,
    ...Object.fromEntries(service.questions.map(({ id }) => [`answers.${id}`, texts.fieldWrong])),
  };
  if (!fields.every((field) => field in said)) return null;
  return new Map(Object.keys(said).flatMap((field) => (fields.includes(field) ? [[field, said[field] ?? ""]] : [])));
}
