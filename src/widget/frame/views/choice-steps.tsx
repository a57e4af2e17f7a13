import type { ComponentChildren } from "preact";
import type { Service } from "../flow.ts";
import type { Texts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";
import type { StepProps } from "./step-props.ts";

const ANYONE = "";

export function ServiceStep({ frame, config, flow, change, headed }: StepProps) {
  const { texts } = frame;
  return (
    <section>
      <h2 ref={headed} tabIndex={-1}>
        {texts.chooseService}
      </h2>
      <ChoiceList
        kind="services"
        items={config.services.map((service) => ({
          id: service.id,
          name: service.name,
          ...(service.description ? { description: service.description } : {}),
          facts: <ServiceFacts service={service} texts={texts} />,
          isChosen: service.id === flow.service?.id,
        }))}
        onChoose={(id) => {
          const service = config.services.find((candidate) => candidate.id === id);
          if (service) change({ type: "serviceChosen", service });
        }}
      />
    </section>
  );
}

export function ServiceFacts({ service, texts }: { service: Service; texts: Texts }) {
  return (
    <>
      <span class="fact">
        <Icon name="clock" />
        {texts.minutes(service.durationMinutes)}
      </span>
      {service.isOnline && (
        <span class="fact">
          <Icon name="video" />
          {texts.online}
        </span>
      )}
    </>
  );
}

export function StaffStep({ frame, flow, change, headed }: StepProps) {
  const { texts } = frame;
  const people = (flow.service?.staff ?? []).map(({ id, name }) => ({ id, name, isChosen: flow.staffId === id }));
  const anyone = { id: ANYONE, name: texts.anyone, description: texts.anyoneHint, isChosen: false };
  return (
    <section>
      <h2 ref={headed} tabIndex={-1}>
        {texts.chooseStaff}
      </h2>
      <ChoiceList
        kind="people"
        items={[anyone, ...people]}
        onChoose={(id) => change({ type: "staffChosen", staffId: id === ANYONE ? null : id })}
      />
    </section>
  );
}

type ChoiceItem = {
  id: string;
  name: string;
  description?: string;
  facts?: ComponentChildren;
  isChosen: boolean;
};

/** A list of choices. Choosing one leads to the next step. */
function ChoiceList(props: { kind: string; items: readonly ChoiceItem[]; onChoose: (id: string) => void }) {
  return (
    <ul class={`choices ${props.kind}`}>
      {props.items.map(({ id, name, description, facts, isChosen }) => (
        <li key={id}>
          <button
            type="button"
            class="choice"
            aria-current={isChosen ? "true" : undefined}
            onClick={() => props.onChoose(id)}
          >
            <span class="choice-text">
              <span class="choice-name">{name}</span>
              {description !== undefined && <span class="choice-description">{description}</span>}
              {facts !== undefined && <span class="choice-facts">{facts}</span>}
            </span>
            <Icon name="next" />
          </button>
        </li>
      ))}
    </ul>
  );
}
