-- Words are seen by whoever may see their memory: the same conditions, on the same columns.

alter table memwarden.posting enable row level security;
alter table memwarden.posting force row level security;
alter table memwarden.shelf enable row level security;
alter table memwarden.shelf force row level security;
create policy tenant on memwarden.posting
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.shelf
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy owner on memwarden.posting as restrictive
  using (owner is null or owner = (select memwarden.principal()) or (select memwarden.is_retention()))
  with check (owner is null or owner = (select memwarden.principal()) or (select memwarden.is_retention()));
create policy owner on memwarden.shelf as restrictive
  using (owner_key = '' or owner_key = (select memwarden.principal()) or (select memwarden.is_retention()))
  with check (owner_key = '' or owner_key = (select memwarden.principal()) or (select memwarden.is_retention()));
create policy domain_read on memwarden.posting as restrictive for select
  using ((select memwarden.every_domain('readable'))
    or domain_id = any ((select memwarden.domain_ids('readable'))::uuid[]) or (select memwarden.is_retention()));
create policy domain_read on memwarden.shelf as restrictive for select
  using ((select memwarden.every_domain('readable'))
    or domain_id = any ((select memwarden.domain_ids('readable'))::uuid[]) or (select memwarden.is_retention()));

grant select, insert, delete on memwarden.posting to mw_app, mw_retention;
grant select, insert, update on memwarden.shelf to mw_app, mw_retention;
grant update (words) on memwarden.memory to mw_retention;
