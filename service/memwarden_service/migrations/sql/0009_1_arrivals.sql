-- What arrived of late from each source, by keyed hashes alone: how much, and how much alike.
create table memwarden.arrival (
  workspace_id uuid not null,
  source_key bytea not null check (octet_length(source_key) = 32),
  at timestamptz not null default now(),
  id uuid not null,  -- Of the decision.
  likeness bytea not null check (octet_length(likeness) = 32),
  primary key (workspace_id, source_key, at, id)
);
create index arrival_by_likeness on memwarden.arrival (workspace_id, source_key, likeness, at);
alter table memwarden.arrival enable row level security;
alter table memwarden.arrival force row level security;
create policy tenant on memwarden.arrival
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
grant select, insert, delete on memwarden.arrival to mw_app;
