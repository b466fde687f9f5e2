-- What is due is asked for workspace by workspace.
drop index memwarden.memory_by_end, memwarden.memory_by_term, memwarden.memory_version_by_end;
create index memory_by_end on memwarden.memory (workspace_id, ends_at) where ends_at is not null and held_by is null;
create index memory_by_term on memwarden.memory (workspace_id, valid_until) where valid_until is not null;
create index memory_version_by_end on memwarden.memory_version (workspace_id, ends_at)
  where ends_at is not null and held_by is null;

-- Replaced by one that goes on behind a version.
drop function if exists memwarden.retention_past(uuid, integer);
-- Past versions of memories in force were not reckoned so far: everything is looked at once more.
truncate memwarden.reckoning;
