-- How long a memory is kept: the moment at which it ends is reckoned in the service and stands in its row.

alter table memwarden.candidate add column delete_at timestamptz;
alter table memwarden.memory
  add column delete_at timestamptz,
  add column falls jsonb,  -- Higher confidences it had, each with the moment until which; null: none.
  add column held_by text,
  add column held_at timestamptz,
  add column held_reason text,
  add column ends_at timestamptz,
  add column ends_by text,
  add column retention text,  -- The digest of the rules by which its end was reckoned; null: it was not yet.
  add constraint memory_hold_whole check ((held_by is null) = (held_at is null)),
  add constraint memory_end_whole check ((ends_at is null) = (ends_by is null));
alter table memwarden.memory_version
  add column delete_at timestamptz,
  add column falls jsonb,
  add column held_by text,
  add column held_at timestamptz,
  add column held_reason text,
  add column ends_at timestamptz,
  add column ends_by text,
  add column retention text;

create index memory_by_end on memwarden.memory (ends_at) where ends_at is not null and held_by is null;
create index memory_by_term on memwarden.memory (valid_until) where valid_until is not null;
create index memory_unreckoned on memwarden.memory (workspace_id, id) where retention is null;
create index memory_version_by_end on memwarden.memory_version (ends_at) where ends_at is not null and held_by is null;

-- How far the ends of a workspace are reckoned by its newest rules.
create table memwarden.reckoning (
  workspace_id uuid primary key references memwarden.workspace (id),
  revision bigint not null,
  retention text not null,
  after uuid  -- The last memory that was looked at; null: all were.
);
