import type { ComponentChildren } from "preact";

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
