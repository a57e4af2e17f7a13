-- Search of stored bookings by parts of names, e-mail addresses, references, services and campaigns (docs/decisions/0010).

-- What a viewer may search, and what only those who may see customers. One field a line: no search reaches over a line's end.
create function booking_open_text(reference text, service_name text, attribution jsonb) returns text
  language sql immutable parallel safe
  return lower(
    normalize(reference || E'\n' || service_name || E'\n' || coalesce(attribution ->> 'campaign', '')) collate "pg_c_utf8"
  );

create function booking_customer_text(customer_name text, customer_email text) returns text
  language sql immutable parallel safe
  return lower(normalize(customer_name || E'\n' || customer_email) collate "pg_c_utf8");

-- Every three letters in a row, each behind the organization and the week that the booking was made in: what is found
-- under one of these is of one organization and one short time, however many bookings there are. `o` and `c` for the two
-- texts, `w` for the widget. bookings/stored/search-terms.ts makes the same words. The cost keeps the planner from filtering by it.
create function booking_grams(
  organization_id text, created_at timestamptz, widget_id text, open_text text, customer_text text
) returns tsvector
  language plpgsql immutable parallel safe cost 10000
as $$
declare
  scope text := substr(organization_id, 5) || floor(extract(epoch from created_at - to_timestamp(0)) / 604800)::integer || ':';
  grams text[] := array[scope || 'w' || widget_id];
  letters text[] := string_to_array(open_text || E'\n\n', null);
begin
  for i in 1 .. cardinality(letters) - 2 loop
    grams := grams || (scope || 'o' || letters[i] || letters[i + 1] || letters[i + 2]);
  end loop;
  letters := string_to_array(customer_text || E'\n\n', null);
  for i in 1 .. cardinality(letters) - 2 loop
    grams := grams || (scope || 'c' || letters[i] || letters[i + 1] || letters[i + 2]);
  end loop;
  return array_to_tsvector(grams);
end
$$;

-- New bookings are put in their places thirty at a time, which halves the work; a search looks through those few as well.
create index bookings_search on bookings using gin (
  booking_grams(
    organization_id, created_at, widget_id,
    booking_open_text(reference, service_name, attribution), booking_customer_text(customer_name, customer_email)
  )
) with (gin_pending_list_limit = 64);
-- Nothing is planned by how often a word occurs.
alter index bookings_search alter column 1 set statistics 0;
