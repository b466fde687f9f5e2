-- Who may see and write the new rows; and who reviews beside those who administer: holders of a role that is asked.

create function memwarden.roles() returns text[] language sql stable as
  $$ select nullif(current_setting('memwarden.roles', true), '')::text[] $$;
create function memwarden.is_registry() returns boolean language sql stable as
  $$ select current_user = 'mw_registry' $$;
revoke execute on function memwarden.roles(), memwarden.is_registry() from public;
grant execute on function memwarden.roles(), memwarden.is_registry() to mw_app, mw_journal, mw_registry;

alter table memwarden.memory_version enable row level security;
alter table memwarden.memory_version force row level security;
alter table memwarden.approval enable row level security;
alter table memwarden.approval force row level security;
alter table memwarden.tombstone enable row level security;
alter table memwarden.tombstone force row level security;
alter table memwarden.feedback enable row level security;
alter table memwarden.feedback force row level security;

create policy tenant on memwarden.memory_version
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.approval
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.tombstone
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.feedback
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));

create policy owner on memwarden.memory_version as restrictive
  using (owner is null or owner = (select memwarden.principal()))
  with check (owner is null or owner = (select memwarden.principal()));
create policy owner on memwarden.tombstone as restrictive
  using (owner_key = '' or owner_key = (select memwarden.principal()))
  with check (owner_key = '' or owner_key = (select memwarden.principal()));
create policy owner on memwarden.feedback as restrictive
  using (owner is null or owner = (select memwarden.principal()))
  with check (owner is null or owner = (select memwarden.principal()));

create policy domain_read on memwarden.memory_version as restrictive for select
  using ((select memwarden.every_domain('readable')) or domain_id = any ((select memwarden.domain_ids('readable'))::uuid[]));
create policy domain_insert on memwarden.memory_version as restrictive for insert
  with check ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[]));
create policy domain_read on memwarden.feedback as restrictive for select
  using ((select memwarden.every_domain('readable')) or domain_id = any ((select memwarden.domain_ids('readable'))::uuid[]));
create policy domain_insert on memwarden.feedback as restrictive for insert
  with check ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[]));
create policy domain_delete on memwarden.memory as restrictive for delete
  using ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[]));

-- Expiry looks for what is due in every workspace, and sees of it no more than whose it is and where.
alter policy owner on memwarden.candidate
  using (owner is null or owner = (select memwarden.principal()) or (select memwarden.is_registry()));
alter policy review_read on memwarden.candidate
  using ((select memwarden.every_domain('administered'))
    or domain_id = any ((select memwarden.domain_ids('administered'))::uuid[])
    or about = (select memwarden.person()) or owner = (select memwarden.person())
    or confirm_roles && (select memwarden.roles()) or (select memwarden.is_registry()));
alter policy review_delete on memwarden.candidate
  using ((select memwarden.every_domain('administered'))
    or domain_id = any ((select memwarden.domain_ids('administered'))::uuid[])
    or about = (select memwarden.person()) or owner = (select memwarden.person())
    or confirm_roles && (select memwarden.roles()));
create policy registry on memwarden.candidate for select to mw_registry using (true);

create policy review on memwarden.approval as restrictive
  using (exists (select from memwarden.candidate c where c.workspace_id = approval.workspace_id
    and c.id = approval.candidate_id))
  with check (exists (select from memwarden.candidate c where c.workspace_id = approval.workspace_id
    and c.id = approval.candidate_id));

-- Who writes in a domain is held by what was rejected there; who reviews a candidate there leaves it and lifts it.
create policy domain on memwarden.tombstone as restrictive
  using ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[])
    or exists (select from memwarden.candidate c where c.workspace_id = tombstone.workspace_id
      and c.domain_id = tombstone.domain_id))
  with check ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[])
    or exists (select from memwarden.candidate c where c.workspace_id = tombstone.workspace_id
      and c.id = tombstone.id and c.domain_id = tombstone.domain_id));

alter policy review_delete on memwarden.intake
  using ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[])
    or exists (select from memwarden.candidate c where c.workspace_id = intake.workspace_id and c.id = intake.id));

grant select, insert on memwarden.memory_version, memwarden.feedback, memwarden.approval to mw_app;
grant select, insert, delete on memwarden.tombstone to mw_app;
grant delete on memwarden.memory to mw_app;
grant select (workspace_id, id, owner, expires_at) on memwarden.candidate to mw_registry;

-- Superseded by confirm and drop_candidate.
drop function memwarden.review(uuid, text, jsonb);
