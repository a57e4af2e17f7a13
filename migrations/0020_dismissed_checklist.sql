-- A person can dismiss an organization's "Getting started" checklist, and it stays dismissed in every browser.

alter table members add column checklist_dismissed_at timestamptz(3);
