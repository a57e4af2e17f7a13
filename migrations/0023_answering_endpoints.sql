-- Requests to endpoints that don't answer are limited, so that any number of hanging receivers leave places for the others. Every
-- endpoint counts as not answering until its next success, and gets one request at a time until then.

alter table endpoints add column is_answering boolean not null default false;
alter table delivery_lanes add column is_answering boolean not null default false;
