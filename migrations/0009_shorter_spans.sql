-- Counters of keys are added up over spans of 2 days as well, so that a window of a month reads fewer rows. The spans there are
-- were added up from days: marked as not added up, every organization's are made anew in the background, and until then the
-- days are read.
update day_zones set sealed_before = '1970-01-01',
  building_sealed_before = case when building_sealed_before is null then null else date '1970-01-01' end;
