import type { ComponentChildren } from "preact";
import { CHOICES_SEPARATOR, TICKED } from "#contract/scheduling.ts";
import type { Service } from "../flow.ts";
import type { Texts } from "../texts/texts.ts";

export function Field(props: {
  id: string;
  label: string;
  optional?: string | null;
  fault: string | undefined;
  children: ComponentChildren;
}) {
  const { id, label, optional, fault } = props;
  return (
    <div class={fault === undefined ? "field" : "field faulty"}>
      <label for={id}>
        {label}
        {optional && <span class="optional"> ({optional})</span>}
      </label>
      {props.children}
      {fault !== undefined && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}

export function toControl(id: string, fault: string | undefined) {
  return {
    id,
    "aria-invalid": fault === undefined ? undefined : ("true" as const),
    "aria-describedby": fault === undefined ? undefined : `${id}-fault`,
  };
}

type QuestionProps = {
  question: Service["questions"][number];
  answer: string;
  fault: string | undefined;
  texts: Texts;
  onAnswer: (answer: string) => void;
};

export function QuestionField(props: QuestionProps) {
  const { question, fault, texts } = props;
  const id = `answers.${question.id}`;
  const optional = question.required ? null : texts.optional;
  switch (question.type) {
    case "tick":
      return <Tick {...props} />;
    case "choices":
      return <Choices {...props} />;
    default:
      return (
        <Field id={id} label={question.label} optional={optional} fault={fault}>
          {question.type === "choice" ? <Choice {...props} /> : <Line {...props} />}
        </Field>
      );
  }
}

const INPUT_MODES = { number: "decimal", phone: "tel" } as const;

function Line({ question: { id, type, required }, answer, fault, onAnswer }: QuestionProps) {
  return (
    <input
      {...toControl(`answers.${id}`, fault)}
      type="text"
      inputMode={type === "number" || type === "phone" ? INPUT_MODES[type] : "text"}
      autocomplete={type === "phone" ? "tel" : "off"}
      required={required}
      value={answer}
      onInput={(event) => onAnswer(event.currentTarget.value)}
    />
  );
}

function Choice({ question: { id, options, required }, answer, fault, texts, onAnswer }: QuestionProps) {
  return (
    <select
      {...toControl(`answers.${id}`, fault)}
      required={required}
      value={answer}
      onChange={(event) => onAnswer(event.currentTarget.value)}
    >
      <option value="">{texts.pleaseSelect}</option>
      {(options ?? []).map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}

function Tick({ question: { id, label, required }, answer, fault, texts, onAnswer }: QuestionProps) {
  const path = `answers.${id}`;
  return (
    <div class={fault === undefined ? "field" : "field faulty"}>
      <label class="tick">
        <input
          {...toControl(path, fault)}
          type="checkbox"
          required={required}
          checked={answer !== ""}
          onChange={(event) => onAnswer(event.currentTarget.checked ? TICKED : "")}
        />
        <span>
          {label}
          {!required && <span class="optional"> ({texts.optional})</span>}
        </span>
      </label>
      <Fault path={path} fault={fault} />
    </div>
  );
}

/** The first box stands for all of them where the error above the form leads to the field. */
function Choices({ question: { id, label, options = [], required }, answer, fault, texts, onAnswer }: QuestionProps) {
  const path = `answers.${id}`;
  const chosen = answer === "" ? [] : answer.split(CHOICES_SEPARATOR);
  const toggle = (option: string, isChosen: boolean) =>
    onAnswer(options.filter((one) => (one === option ? isChosen : chosen.includes(one))).join(CHOICES_SEPARATOR));
  return (
    <fieldset class={fault === undefined ? "field" : "field faulty"}>
      <legend>
        {label}
        {!required && <span class="optional"> ({texts.optional})</span>}
      </legend>
      {options.map((option, index) => (
        <label class="tick" key={option}>
          <input
            {...(index === 0 ? toControl(path, fault) : {})}
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={(event) => toggle(option, event.currentTarget.checked)}
          />
          <span>{option}</span>
        </label>
      ))}
      <Fault path={path} fault={fault} />
    </fieldset>
  );
}

function Fault({ path, fault }: { path: string; fault: string | undefined }) {
  return fault === undefined ? null : (
    <p class="fault" id={`${path}-fault`}>
      {fault}
    </p>
  );
}
