import "@mantine/spotlight/styles.layer.css";
import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight } from "@mantine/spotlight";
import {
  type Icon,
  IconAppWindow,
  IconCalendarEvent,
  IconSearch,
  IconUserCircle,
  IconWebhook,
} from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import type { BookingSummary } from "#contract/app/bookings.ts";
import type { AppWidget } from "#contract/app/widgets.ts";
import { SEARCH_LENGTH_MAX } from "#contract/limits.ts";
import { bookingsQuery } from "../api/bookings.ts";
import { endpointsQuery, widgetsQuery } from "../api/queries.ts";
import type { Paths } from "../paths.ts";
import { nameOf } from "../webhooks/endpoint-words.ts";
import { MODE_NAMES } from "../widgets/mode/ModeBadge.tsx";
import { NAVIGATION } from "./Navigation.tsx";

type Found = { key: string; label: string; description?: string; icon: Icon; to: string };

const TYPING_MS = 200;
/** One letter would match nearly every booking. */
const BOOKING_SEARCH_MIN = 2;
const BOOKINGS_SHOWN = 5;

/** Ctrl K or ⌘ K: finds screens, widgets, endpoints, and bookings by reference or name. */
export function CommandPalette({ organization, paths }: { organization: string; paths: Paths }) {
  const navigate = useNavigate();
  const [query, setQuery] = useState("");
  const [isOpen, setOpen] = useState(false);
  const { groups, notice } = useFound({ organization, paths, query: query.trim(), isOpen });
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      // Cleared when it opens: Spotlight would do it once it has closed, which may be after someone has opened it again and typed.
      clearQueryOnClose={false}
      onSpotlightOpen={() => {
        setQuery("");
        setOpen(true);
      }}
      onSpotlightClose={() => setOpen(false)}
      attributes={{ content: { "aria-label": "Search", "data-search-open": isOpen } }}
      scrollable
      maxHeight="60dvh"
    >
      <Spotlight.Search
        placeholder="Search screens, bookings, widgets and endpoints"
        aria-label="Search"
        maxLength={SEARCH_LENGTH_MAX}
        onKeyDown={openFirst}
        leftSection={<IconSearch size={18} stroke={1.6} aria-hidden />}
      />
      <Spotlight.ActionsList>
        {groups.map(({ label, found }) => (
          <Spotlight.ActionsGroup key={label} label={label}>
            {found.map(({ key, icon: Icon, to, ...words }) => (
              <Spotlight.Action
                key={key}
                leftSection={<Icon size={19} stroke={1.6} aria-hidden />}
                onClick={() => void navigate({ to })}
                {...words}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {notice && <Spotlight.Empty>{notice}</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

/** Spotlight selects the first match when the text changes, which is before the server has answered. */
function openFirst({ key, currentTarget }: KeyboardEvent<HTMLInputElement>): void {
  const palette = currentTarget.closest("[role=dialog]");
  if (key === "Enter" && !palette?.querySelector("[data-selected]"))
    palette?.querySelector<HTMLElement>("[data-action]")?.click();
}

function toFoundWidget({ id, name, mode }: AppWidget, paths: Paths): Found {
  return { key: id, label: name, description: MODE_NAMES[mode], icon: IconAppWindow, to: paths.widget(id) };
}

function toFoundBooking({ reference, customer, service }: BookingSummary, paths: Paths): Found {
  return {
    key: reference,
    label: customer?.name ?? reference,
    description: customer ? `${reference} · ${service.name}` : service.name,
    icon: IconCalendarEvent,
    to: paths.booking(reference),
  };
}

type Search = { organization: string; paths: Paths; query: string; isOpen: boolean };

/** The matches. The notice says why there are none, or that some may be missing. */
function useFound({ organization, paths, query, isOpen }: Search): {
  groups: { label: string; found: Found[] }[];
  notice: string | null;
} {
  const widgets = useQuery({ ...widgetsQuery(organization), enabled: isOpen });
  const endpoints = useQuery({ ...endpointsQuery(organization), enabled: isOpen });
  const bookings = useFoundBookings({ organization, query, isOpen });
  const matches = (...texts: string[]) => texts.some((text) => text.toLowerCase().includes(query.toLowerCase()));
  const screens = [
    ...NAVIGATION.flatMap(({ items }) => items),
    { label: "Profile", icon: IconUserCircle, to: ({ profile }: Paths) => profile },
  ];
  const groups = [
    {
      label: "Go to",
      found: screens
        .filter(({ label }) => matches(label))
        .map(({ label, icon, to }) => ({ key: label, label, icon, to: to(paths) })),
    },
    {
      label: "Bookings",
      found: bookings.found.map((booking) => toFoundBooking(booking, paths)),
    },
    {
      label: "Widgets",
      found: (query === "" ? [] : (widgets.data?.data ?? []))
        .filter(({ name, businessName, id }) => matches(name, businessName, id))
        .map((widget) => toFoundWidget(widget, paths)),
    },
    {
      label: "Endpoints",
      found: (query === "" ? [] : (endpoints.data?.data ?? []))
        .filter((endpoint) => matches(nameOf(endpoint), endpoint.url))
        .map((endpoint) => ({
          key: endpoint.id,
          label: nameOf(endpoint),
          description: endpoint.url,
          icon: IconWebhook,
          to: paths.endpoint(endpoint.id),
        })),
    },
  ];
  const sources = [widgets, endpoints, bookings];
  const shown = groups.filter(({ found }) => found.length > 0);
  return { groups: shown, notice: toNotice(sources, shown.length > 0) };
}

type Source = { isLoading: boolean; isLoadingError: boolean };

function toNotice(sources: readonly Source[], hasMatches: boolean): string | null {
  if (sources.some(({ isLoadingError }) => isLoadingError)) return "The search failed. Some results may be missing.";
  if (hasMatches) return null;
  return sources.some(({ isLoading }) => isLoading) ? "Searching…" : "No matches";
}

function useFoundBookings({ organization, query, isOpen }: Omit<Search, "paths">): Source & {
  found: readonly BookingSummary[];
} {
  const [search] = useDebouncedValue(query, TYPING_MS);
  const bookings = useInfiniteQuery({
    ...bookingsQuery(organization, { search }),
    enabled: isOpen && search.length >= BOOKING_SEARCH_MIN,
  });
  if (query.length < BOOKING_SEARCH_MIN) return { found: [], isLoading: false, isLoadingError: false };
  // The query keeps the previous search's bookings on screen while it loads, which would be wrong matches here.
  if (search !== query || bookings.isPlaceholderData) return { found: [], isLoading: true, isLoadingError: false };
  const { data, isLoading, isLoadingError } = bookings;
  return { found: data?.pages[0]?.data.slice(0, BOOKINGS_SHOWN) ?? [], isLoading, isLoadingError };
}
