import { useRef } from "preact/hooks";
import type { FormValues, Service } from "../flow.ts";
import type { Submit } from "../submit.ts";
import type { Texts } from "../texts/texts.ts";
import { useWhen } from "../use-when.ts";
import { Field, QuestionField, toControl } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { Notice } from "./notice.tsx";
import type { StepProps } from "./step-props.ts";

const CONTACT = [
  { name: "name", autocomplete: "name", inputMode: "text", autocapitalize: "words" },
  { name: "email", autocomplete: "email", inputMode: "email", autocapitalize: "none" },
  { name: "phone", autocomplete: "tel", inputMode: "tel", autocapitalize: "none" },
] as const;

export function FormStep(props: StepProps & { submit: Submit }) {
  const { frame, config, flow, change, headed, submit } = props;
  const { texts, funnel } = frame;
  const { values, service } = flow;
  if (!service) return null;
  const enter = (entered: Partial<FormValues>) => {
    funnel.record("form_started");
    change({ type: "entered", values: entered });
  };
  return (
    <section>
      <h2 ref={headed} tabIndex={-1}>
        {texts.yourDetails}
      </h2>
      <Trouble submit={submit} texts={texts} />
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit.send();
        }}
      >
        <ContactFields service={service} values={values} submit={submit} texts={texts} onEnter={enter} />
        <Questions service={service} values={values} submit={submit} texts={texts} onEnter={enter} />
        <Field
          id="customer.notes"
          label={texts.notes}
          optional={texts.optional}
          fault={submit.faults.get("customer.notes")}
        >
          <textarea
            {...toControl("customer.notes", submit.faults.get("customer.notes"))}
            name="notes"
            rows={3}
            value={values.notes}
            onInput={(event) => enter({ notes: event.currentTarget.value })}
          />
        </Field>
        <Trap value={values.website} onEnter={(website) => change({ type: "entered", values: { website } })} />
        {config.widget.privacyUrl && (
          <p class="hint privacy">
            <a href={config.widget.privacyUrl} target="_blank" rel="noopener">
              {texts.privacyPolicy}
            </a>
          </p>
        )}
        <div class="actions">
          <button type="submit" class="primary wide" aria-disabled={submit.isSending}>
            {submit.isSending ? texts.sending : texts.confirm}
          </button>
        </div>
      </form>
    </section>
  );
}

/** Hidden from people: whoever fills it in is a program. */
function Trap({ value, onEnter }: { value: string; onEnter: (text: string) => void }) {
  return (
    <div class="trap" aria-hidden="true">
      <label>
        Website
        <input
          type="text"
          name="website"
          tabIndex={-1}
          autocomplete="off"
          value={value}
          onInput={(event) => onEnter(event.currentTarget.value)}
        />
      </label>
    </div>
  );
}

type FieldsProps = {
  values: FormValues;
  submit: Submit;
  texts: Texts;
  onEnter: (values: Partial<FormValues>) => void;
};

function ContactFields({ service, values, submit, texts, onEnter }: FieldsProps & { service: Service }) {
  return (
    <>
      {CONTACT.map(({ name, ...hints }) => {
        const path = `customer.${name}`;
        const fault = submit.faults.get(path);
        const isRequired = name !== "phone" || service.phoneRequired === true;
        return (
          <Field key={name} id={path} label={texts[name]} optional={isRequired ? null : texts.optional} fault={fault}>
            <input
              {...toControl(path, fault)}
              type="text"
              {...hints}
              name={name}
              required={isRequired}
              value={values[name]}
              onInput={(event) => onEnter({ [name]: event.currentTarget.value })}
            />
          </Field>
        );
      })}
    </>
  );
}

function Questions(props: FieldsProps & { service: Service }) {
  const { service, values, submit, texts, onEnter } = props;
  return (
    <>
      {service.questions.map((question) => (
        <QuestionField
          key={question.id}
          question={question}
          answer={values.answers[question.id] ?? ""}
          fault={submit.faults.get(`answers.${question.id}`)}
          texts={texts}
          onAnswer={(answer) => onEnter({ answers: { ...values.answers, [question.id]: answer } })}
        />
      ))}
    </>
  );
}

/** The error of the last attempt, above the form; announced each time. */
function Trouble({ submit, texts }: { submit: Submit; texts: Texts }) {
  const summary = useRef<HTMLDivElement>(null);
  const { problem, faults, refusals } = submit;
  useWhen([refusals], () => {
    if (faults.size > 0) summary.current?.focus();
  });
  if (problem !== null && problem !== "taken") {
    return (
      <Notice key={refusals} kind="problem" title={texts[`${problem}Title`]} text={texts[problem]} takesFocus>
        {!submit.isSending && (
          <button type="button" class="secondary" onClick={() => void submit.send()}>
            {texts.retry}
          </button>
        )}
      </Notice>
    );
  }
  if (faults.size === 0) return null;
  return (
    <div class="notice problem" role="alert" tabIndex={-1} ref={summary}>
      <h3>
        <Icon name="alert" />
        {texts.faultsTitle(faults.size)}
      </h3>
      <ul>
        {[...faults].map(([path, fault]) => (
          <li key={path}>
            <a
              href={`#${path}`}
              onClick={(event) => {
                // The address keeps the host page's fragment.
                event.preventDefault();
                document.getElementById(path)?.focus();
              }}
            >
              {fault}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
