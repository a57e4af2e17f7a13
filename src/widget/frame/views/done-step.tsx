import type { BookAnswer } from "#contract/book.ts";
import { currentMs } from "../environment.ts";
import { toIcs } from "../ics.ts";
import { toZoneName } from "../zones.ts";
import { Icon } from "./icon.tsx";
import type { StepProps } from "./step-props.ts";

/** How long a browser may take to start the download. */
const DOWNLOAD_LIMIT_MS = 60_000;

export function DoneStep(props: StepProps & { booked: BookAnswer; timeZone: string; onAnother: () => void }) {
  const { session, config, formats, headed, booked } = props;
  const { isTest } = config.widget;
  const { texts } = session;
  const [startMs, endMs] = [Date.parse(booked.start), Date.parse(booked.end)];
  return (
    <section class="done">
      <div class="done-mark">
        <Icon name="check" />
      </div>
      <h2 ref={headed} tabIndex={-1}>
        {isTest ? texts.testBookedTitle : texts.bookedTitle}
      </h2>
      <p class="lead">{isTest ? texts.testBooked : texts.booked}</p>
      <dl class="facts">
        <div>
          <dt>{texts.when}</dt>
          <dd>
            <strong>{formats.dateOf(startMs)}</strong>
            <br />
            {formats.timeRange(startMs, endMs)} ({toZoneName(props.timeZone)})
          </dd>
        </div>
        <div>
          <dt>{texts.service}</dt>
          <dd>{booked.service.name}</dd>
        </div>
        {booked.staff.length > 0 && (
          <div>
            <dt>{texts.staff}</dt>
            <dd>{booked.staff.map(({ name }) => name).join(", ")}</dd>
          </div>
        )}
        <div>
          <dt>{texts.email}</dt>
          <dd>{props.flow.values.email}</dd>
        </div>
        <div>
          <dt>{texts.reference}</dt>
          <dd class="reference">{booked.reference}</dd>
        </div>
      </dl>
      <div class="done-actions">
        {isWebAddress(booked.joinUrl) && (
          <a class="primary" href={booked.joinUrl} target="_blank" rel="noopener">
            <Icon name="video" />
            {texts.join}
          </a>
        )}
        <button
          type="button"
          class={isWebAddress(booked.joinUrl) ? "secondary" : "primary"}
          onClick={() => save(props)}
        >
          <Icon name="calendar" />
          {texts.addToCalendar}
        </button>
        {isWebAddress(booked.manageUrl) && (
          <a class="secondary" href={booked.manageUrl} target="_blank" rel="noopener">
            {isTest ? texts.cancelTest : texts.manage}
          </a>
        )}
        <button type="button" class="plain" onClick={props.onAnother}>
          {texts.bookAnother}
        </button>
      </div>
    </section>
  );
}

function isWebAddress(address: string | null | undefined): address is string {
  return typeof address === "string" && /^https?:\/\//.test(address);
}

function save({ session, config, booked }: StepProps & { booked: BookAnswer }): void {
  const { texts } = session;
  const { businessName, isTest } = config.widget;
  const links = [booked.joinUrl, booked.manageUrl].filter(isWebAddress);
  const file = toIcs({
    uid: `${booked.reference}@${location.hostname}`,
    startMs: Date.parse(booked.start),
    endMs: Date.parse(booked.end),
    stampMs: currentMs(),
    title: `${isTest ? `${texts.test}: ` : ""}${texts.calendarTitle(booked.service.name, businessName)}`,
    description: [`${texts.reference}: ${booked.reference}`, ...links].join("\n"),
    location: isWebAddress(booked.joinUrl) ? booked.joinUrl : businessName,
    url: links[0] ?? null,
  });
  const address = URL.createObjectURL(new Blob([file], { type: "text/calendar;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${booked.reference}.ics`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), DOWNLOAD_LIMIT_MS);
}
