import type { ComponentChildren } from "preact";
import { Icon } from "./icon.tsx";

type ChoiceItem = {
  id: string;
  name: string;
  description?: string;
  facts?: ComponentChildren;
  isChosen: boolean;
};

/** A list of choices. Choosing one leads to the next step. */
export function ChoiceList(props: { kind: string; items: readonly ChoiceItem[]; onChoose: (id: string) => void }) {
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
