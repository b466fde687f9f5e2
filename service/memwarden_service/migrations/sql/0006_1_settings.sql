-- What a person wants of the service for the memories that are theirs.
create table memwarden.person_setting (
  workspace_id uuid not null references memwarden.workspace (id),
  person text not null check (char_length(person) between 1 and 253),
  auto_redact_pii boolean not null,
  version integer not null check (version > 0),
  changed_at timestamptz not null default now(),
  primary key (workspace_id, person)
);
alter table memwarden.person_setting enable row level security;
alter table memwarden.person_setting force row level security;
create policy tenant on memwarden.person_setting
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy own on memwarden.person_setting as restrictive
  using (person = (select memwarden.principal())) with check (person = (select memwarden.principal()));
grant select, insert, update on memwarden.person_setting to mw_app;
