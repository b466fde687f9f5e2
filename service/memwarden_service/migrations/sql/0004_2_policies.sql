-- What keeps terms sees the rows of every workspace and of every owner, through a handful of functions that it owns.

create function memwarden.is_retention() returns boolean language sql stable as
  $$ select current_user = 'mw_retention' $$;
revoke execute on function memwarden.is_retention() from public;
grant execute on function memwarden.is_retention() to mw_app, mw_journal, mw_registry, mw_retention;
grant execute on function memwarden.current_workspace(), memwarden.principal(), memwarden.person(),
  memwarden.every_domain(text), memwarden.domain_ids(text), memwarden.roles(), memwarden.is_registry(),
  memwarden.is_operator() to mw_retention;

alter table memwarden.reckoning enable row level security;
alter table memwarden.reckoning force row level security;
create policy tenant on memwarden.reckoning
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy retention on memwarden.reckoning for select to mw_retention using (true);
create policy retention on memwarden.memory for select to mw_retention using (true);
create policy retention on memwarden.memory_version for select to mw_retention using (true);
create policy retention on memwarden.ruleset for select to mw_retention using (true);

alter policy owner on memwarden.memory
  using (owner is null or owner = (select memwarden.principal()) or (select memwarden.is_retention()))
  with check (owner is null or owner = (select memwarden.principal()) or (select memwarden.is_retention()));
alter policy owner on memwarden.memory_version
  using (owner is null or owner = (select memwarden.principal()) or (select memwarden.is_retention()))
  with check (owner is null or owner = (select memwarden.principal()) or (select memwarden.is_retention()));
alter policy owner on memwarden.intake
  using (owner_key = '' or owner_key = (select memwarden.principal()) or (select memwarden.is_retention()))
  with check (owner_key = '' or owner_key = (select memwarden.principal()));
alter policy owner on memwarden.feedback
  using (owner is null or owner = (select memwarden.principal()) or (select memwarden.is_retention()))
  with check (owner is null or owner = (select memwarden.principal()));
alter policy owner on memwarden.candidate
  using (owner is null or owner = (select memwarden.principal()) or (select memwarden.is_registry())
    or (select memwarden.is_retention()));

alter policy domain_read on memwarden.memory
  using ((select memwarden.every_domain('readable'))
    or domain_id = any ((select memwarden.domain_ids('readable'))::uuid[]) or (select memwarden.is_retention()));
alter policy domain_delete on memwarden.memory
  using ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[]) or (select memwarden.is_retention()));
alter policy domain_read on memwarden.memory_version
  using ((select memwarden.every_domain('readable'))
    or domain_id = any ((select memwarden.domain_ids('readable'))::uuid[]) or (select memwarden.is_retention()));
alter policy domain_insert on memwarden.memory_version
  with check ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[]) or (select memwarden.is_retention()));
alter policy domain_read on memwarden.feedback
  using ((select memwarden.every_domain('readable'))
    or domain_id = any ((select memwarden.domain_ids('readable'))::uuid[]) or (select memwarden.is_retention()));
alter policy domain_read on memwarden.intake
  using ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[]) or (select memwarden.is_retention())
    or exists (select from memwarden.candidate c where c.workspace_id = intake.workspace_id and c.id = intake.id));
alter policy review_delete on memwarden.intake
  using ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[]) or (select memwarden.is_retention())
    or exists (select from memwarden.candidate c where c.workspace_id = intake.workspace_id and c.id = intake.id));
alter policy review_read on memwarden.candidate
  using ((select memwarden.every_domain('administered'))
    or domain_id = any ((select memwarden.domain_ids('administered'))::uuid[])
    or about = (select memwarden.person()) or owner = (select memwarden.person())
    or confirm_roles && (select memwarden.roles()) or (select memwarden.is_registry())
    or (select memwarden.is_retention()));
alter policy review_delete on memwarden.candidate
  using ((select memwarden.every_domain('administered'))
    or domain_id = any ((select memwarden.domain_ids('administered'))::uuid[])
    or about = (select memwarden.person()) or owner = (select memwarden.person())
    or confirm_roles && (select memwarden.roles()) or (select memwarden.is_retention()));

grant usage on schema memwarden to mw_retention;
grant select, insert, update on memwarden.reckoning to mw_retention;
grant select on memwarden.ruleset, memwarden.domain to mw_retention;
grant select, delete, update (ends_at, ends_by, retention) on memwarden.memory to mw_retention;
grant select, insert, delete, update (ends_at, ends_by, retention, held_by, held_at, held_reason)
  on memwarden.memory_version to mw_retention;
grant select, delete on memwarden.intake, memwarden.feedback, memwarden.candidate to mw_retention;
