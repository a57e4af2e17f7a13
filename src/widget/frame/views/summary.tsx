import { toZoneName } from "../times/zones.ts";
import { ServiceFacts } from "./choice-steps.tsx";
import { Icon } from "./icon.tsx";
import type { StepProps } from "./step-props.ts";

export function Summary({ frame, flow, formats, timeZone }: StepProps & { timeZone: string }) {
  const { service, slot, staffId } = flow;
  if (!service) return null;
  const person = service.staff.find(({ id }) => id === staffId);
  return (
    <div class="summary">
      <strong>{service.name}</strong>
      <ServiceFacts service={service} texts={frame.texts} />
      {person && (
        <span class="fact">
          <Icon name="person" />
          {person.name}
        </span>
      )}
      {flow.step === "form" && slot && (
        <>
          <span class="fact">
            <Icon name="calendar" />
            <span>
              {formats.dateOf(Date.parse(slot.start))},{" "}
              <span class="together">{formats.timeRange(Date.parse(slot.start), Date.parse(slot.end))}</span>
            </span>
          </span>
          <span class="fact">
            <Icon name="globe" />
            {toZoneName(timeZone)}
          </span>
        </>
      )}
    </div>
  );
}
