import { toGoogleLink, toOutlookLink, toThankYouAddress } from "../calendar-links.ts";
import { currentMs } from "../environment.ts";
import type { Booked } from "../flow.ts";
import { type CalendarEntry, toIcs } from "../ics.ts";
import { toZoneName } from "../times/zones.ts";
import { useWhen } from "../use-when.ts";
import { Icon } from "./icon.tsx";
import type { StepProps } from "./step-props.ts";

/** How long a browser may take to start the download. */
const DOWNLOAD_LIMIT_MS = 60_000;

type DoneProps = StepProps & { booked: Booked };

type DoneStepProps = DoneProps & { timeZone: string; onAnother: () => void };

export function DoneStep(props: DoneStepProps) {
  const { frame, config, headed, booked } = props;
  const { isTest } = config.widget;
  const { texts } = frame;
  const thanks = config.widget.thankYouUrl && toThankYouAddress(config.widget.thankYouUrl, booked.reference);
  useWhen([], () => {
    // After a test the visitor stays, to read that nothing was booked. Browsers allow this just after a click.
    if (thanks && !isTest) window.open(thanks, "_top");
  });
  return (
    <section class="done">
      <div class="done-mark">
        <Icon name="check" />
      </div>
      <h2 ref={headed} tabIndex={-1}>
        {isTest ? texts.testBookedTitle : texts.bookedTitle}
      </h2>
      <p class="lead">{isTest ? texts.testBooked : texts.booked}</p>
      <Facts {...props} />
      {thanks && (
        <div class="done-actions">
          <a class="primary" href={thanks} target="_top">
            {texts.continue}
          </a>
        </div>
      )}
      <Keep {...props} isFirst={!thanks} />
      <div class="done-actions">
        <Change {...props} />
        <button type="button" class="plain" onClick={props.onAnother}>
          {texts.bookAnother}
        </button>
      </div>
    </section>
  );
}

function Facts({ frame, flow, formats, booked, timeZone }: DoneStepProps) {
  const { texts } = frame;
  const [startMs, endMs] = [Date.parse(booked.start), Date.parse(booked.end)];
  return (
    <dl class="facts">
      <div>
        <dt>{texts.when}</dt>
        <dd>
          <strong>{formats.dateOf(startMs)}</strong>
          <br />
          {formats.timeRange(startMs, endMs)} ({toZoneName(timeZone)})
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
        <dd>{flow.values.email}</dd>
      </div>
      <div>
        <dt>{texts.reference}</dt>
        <dd class="reference">{booked.reference}</dd>
      </div>
    </dl>
  );
}

/** The ways to join and to keep the appointment. The first one stands out. */
function Keep(props: DoneProps & { isFirst: boolean }) {
  const { frame, booked, isFirst } = props;
  const { texts } = frame;
  const { joinUrl } = booked;
  const entry = toEntry(props);
  return (
    <div class="done-actions">
      {isWebAddress(joinUrl) && (
        <a class={isFirst ? "primary" : "secondary"} href={joinUrl} target="_blank" rel="noopener">
          <Icon name="video" />
          {texts.join}
        </a>
      )}
      <button
        type="button"
        class={isFirst && !isWebAddress(joinUrl) ? "primary" : "secondary"}
        onClick={() => save(entry, booked.reference)}
      >
        <Icon name="calendar" />
        {texts.addToCalendar}
      </button>
      <p class="calendar-links">
        <a href={toGoogleLink(entry)} target="_blank" rel="noopener">
          Google Calendar
        </a>
        <a href={toOutlookLink(entry)} target="_blank" rel="noopener">
          Outlook
        </a>
      </p>
    </div>
  );
}

/** Links to the scheduling system's pages: one for everything, or one to reschedule and one to cancel. */
function Change({ frame, config, booked }: DoneProps) {
  const { texts } = frame;
  const { manageUrl, cancelUrl } = booked;
  const isOnlyRescheduled = isWebAddress(cancelUrl);
  return (
    <>
      {isWebAddress(manageUrl) && (
        <a class="secondary" href={manageUrl} target="_blank" rel="noopener">
          {config.widget.isTest ? texts.cancelTest : isOnlyRescheduled ? texts.reschedule : texts.manage}
        </a>
      )}
      {isOnlyRescheduled && (
        <a class="secondary" href={cancelUrl} target="_blank" rel="noopener">
          {texts.cancel}
        </a>
      )}
    </>
  );
}

function isWebAddress(address: string | null | undefined): address is string {
  return typeof address === "string" && /^https?:\/\//.test(address);
}

function toEntry({ frame, config, booked }: DoneProps): CalendarEntry {
  const { texts } = frame;
  const { businessName, isTest } = config.widget;
  const links = [booked.joinUrl, booked.manageUrl, booked.cancelUrl].filter(isWebAddress);
  return {
    uid: `${booked.reference}@${location.hostname}`,
    startMs: Date.parse(booked.start),
    endMs: Date.parse(booked.end),
    stampMs: currentMs(),
    title: `${isTest ? `${texts.test}: ` : ""}${texts.calendarTitle(booked.service.name, businessName)}`,
    description: [`${texts.reference}: ${booked.reference}`, ...links].join("\n"),
    location: isWebAddress(booked.joinUrl) ? booked.joinUrl : businessName,
    url: links[0] ?? null,
  };
}

function save(entry: CalendarEntry, reference: string): void {
  const address = URL.createObjectURL(new Blob([toIcs(entry)], { type: "text/calendar;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${reference}.ics`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), DOWNLOAD_LIMIT_MS);
}
