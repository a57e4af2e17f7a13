import { useState } from "preact/hooks";
import type { ConfigResponse } from "#contract/widgets/embed-api.ts";
import type { LoadFailure } from "./api.ts";
import type { Frame } from "./frame.ts";
import { useWhen } from "./use-when.ts";
import { Booking } from "./views/booking.tsx";
import { Notice } from "./views/notice.tsx";
import { Shell } from "./views/shell.tsx";

type State =
  | { kind: "loading" }
  | { kind: "failed"; failure: LoadFailure; isFirst: boolean; hasChanged: boolean }
  | { kind: "ready"; config: ConfigResponse; isPaused: boolean; hasChanged: boolean };

export function App({ frame }: { frame: Frame }) {
  const { api, texts } = frame;
  const [state, setState] = useState<State>({ kind: "loading" });
  const load = async ({ isFirst = false, hasChanged = false }) => {
    setState({ kind: "loading" });
    const loaded = await api.loadConfig();
    if (loaded.kind === "failed") return setState({ ...loaded, isFirst, hasChanged });
    const config = loaded.value;
    document.title = texts.bookWith(config.widget.businessName);
    setState({ kind: "ready", config, isPaused: config.widget.status === "paused", hasChanged });
  };
  useWhen([], () => void load({ isFirst: true }));

  switch (state.kind) {
    case "loading":
      return (
        <Shell frame={frame} widget={null}>
          <Skeleton label={texts.loading} />
        </Shell>
      );
    case "failed":
      return (
        <Shell frame={frame} widget={null}>
          <Notice
            kind="problem"
            title={texts.loadFailedTitle}
            text={texts[`${state.failure}Failed`]}
            takesFocus={!state.isFirst}
          >
            <button type="button" class="primary" onClick={() => void load({ hasChanged: state.hasChanged })}>
              {texts.retry}
            </button>
          </Notice>
        </Shell>
      );
    case "ready":
      return state.isPaused ? (
        <Paused frame={frame} config={state.config} />
      ) : (
        <Booking
          frame={frame}
          config={state.config}
          onPaused={() => setState({ ...state, isPaused: true })}
          onChanged={() => void load({ hasChanged: true })}
          hasChanged={state.hasChanged}
        />
      );
    default:
      return state satisfies never;
  }
}

function Paused({ frame, config }: { frame: Frame; config: ConfigResponse }) {
  const { texts } = frame;
  const { bookingUrl } = config.widget;
  // The widget's own page would show the same.
  const isElsewhere = URL.canParse(bookingUrl) && new URL(bookingUrl).pathname !== `/w/${config.widget.id}`;
  return (
    <Shell frame={frame} widget={config.widget}>
      <Notice kind="calm" title={texts.pausedTitle} text={texts.paused}>
        {isElsewhere && (
          <a class="primary" href={bookingUrl} target="_blank" rel="noopener">
            {texts.bookElsewhere}
          </a>
        )}
      </Notice>
    </Shell>
  );
}

/** A placeholder with the outline of the booking, so that little moves when it appears. */
function Skeleton({ label }: { label: string }) {
  return (
    <div class="skeleton">
      <p class="unseen" role="status">
        {label}
      </p>
      <span />
      <span />
      <span />
    </div>
  );
}
