-- Bookings of a visit may carry the name of their service, after instant and lead time. Of two that claim the same instant and
-- lead time, the lesser name wins, so that the result does not depend on the order in which they arrive.
create or replace function unite_conversions(a jsonb, b jsonb) returns jsonb language sql immutable parallel safe as $$
  select case
    when a is null then b
    when b is null then a
    else (
      select jsonb_object_agg(key, value) from (
        select distinct on (key) key, value
        from (select key, value from jsonb_each(a) union all select key, value from jsonb_each(b)) both_sets
        order by key, (value ->> 0)::bigint, (value ->> 1)::bigint nulls last, (value ->> 2) collate "C" nulls last
      ) united
    )
  end
$$;
