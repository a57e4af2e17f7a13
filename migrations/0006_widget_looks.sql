-- How a widget looks, and on whose pages it may be shown.

alter table widgets
  -- Null: the template's own.
  add column accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
  -- Host names, `*.example.com` for every name below one. None: any page may show the widget.
  add column allowed_domains text[] not null default '{}';
