-- Bookings that were made with gad_source or gad_campaignid have them in the read API too. Only their rows are changed and locked;
-- finding them reads the table once, a few seconds per million bookings.
update bookings set api_json = jsonb_set(api_json::jsonb, '{attribution}', attribution)::text
where attribution ?| array['gadSource', 'gadCampaignid'];
