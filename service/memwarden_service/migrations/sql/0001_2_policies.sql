-- Row-level security: fixed text. What a request may touch arrives in settings that live as long as its transaction.

create function memwarden.current_workspace() returns uuid language sql stable as
  $$ select nullif(current_setting('memwarden.workspace', true), '')::uuid $$;
create function memwarden.principal() returns text language sql stable as
  $$ select nullif(current_setting('memwarden.principal', true), '') $$;
create function memwarden.person() returns text language sql stable as
  $$ select nullif(current_setting('memwarden.person', true), '') $$;
create function memwarden.is_operator() returns boolean language sql stable as
  $$ select coalesce(current_setting('memwarden.operator', true) = 'on', false) $$;
-- `p` is readable, writable or administered; the setting holds 'all', or an array of domain ids, or nothing.
create function memwarden.every_domain(p text) returns boolean language sql stable as
  $$ select coalesce(current_setting('memwarden.' || p, true) = 'all', false) $$;
create function memwarden.domain_ids(p text) returns uuid[] language sql stable as
  $$ select nullif(nullif(current_setting('memwarden.' || p, true), 'all'), '')::uuid[] $$;

revoke execute on all functions in schema memwarden from public;
grant execute on all functions in schema memwarden to mw_app, mw_journal, mw_registry;

alter table memwarden.workspace enable row level security;
alter table memwarden.workspace force row level security;
alter table memwarden.fence enable row level security;
alter table memwarden.fence force row level security;
alter table memwarden.ruleset enable row level security;
alter table memwarden.ruleset force row level security;
alter table memwarden.policy_object enable row level security;
alter table memwarden.policy_object force row level security;
alter table memwarden.domain enable row level security;
alter table memwarden.domain force row level security;
alter table memwarden.decision enable row level security;
alter table memwarden.decision force row level security;
alter table memwarden.memory enable row level security;
alter table memwarden.memory force row level security;
alter table memwarden.candidate enable row level security;
alter table memwarden.candidate force row level security;
alter table memwarden.intake enable row level security;
alter table memwarden.intake force row level security;
alter table memwarden.journal enable row level security;
alter table memwarden.journal force row level security;
alter table memwarden.journal_head enable row level security;
alter table memwarden.journal_head force row level security;
alter table memwarden.api_key enable row level security;
alter table memwarden.api_key force row level security;
alter table memwarden.idempotency enable row level security;
alter table memwarden.idempotency force row level security;

create policy tenant on memwarden.workspace
  using (id = (select memwarden.current_workspace())) with check (id = (select memwarden.current_workspace()));
create policy tenant on memwarden.ruleset
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.policy_object
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.domain
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.decision
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.memory
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.candidate
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.intake
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.journal
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.journal_head
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.api_key
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));
create policy tenant on memwarden.idempotency
  using (workspace_id = (select memwarden.current_workspace()))
  with check (workspace_id = (select memwarden.current_workspace()));

-- Rules are the operator's to write.
create policy operator_inserts on memwarden.ruleset as restrictive for insert
  with check ((select memwarden.is_operator()));
create policy operator_updates on memwarden.ruleset as restrictive for update
  using ((select memwarden.is_operator())) with check ((select memwarden.is_operator()));
create policy operator_inserts on memwarden.policy_object as restrictive for insert
  with check ((select memwarden.is_operator()));
create policy operator_updates on memwarden.policy_object as restrictive for update
  using ((select memwarden.is_operator())) with check ((select memwarden.is_operator()));
create policy operator_deletes on memwarden.policy_object as restrictive for delete
  using ((select memwarden.is_operator()));

-- A private row is its owner's alone, whoever administers the domain.
create policy owner on memwarden.memory as restrictive
  using (owner is null or owner = (select memwarden.principal()))
  with check (owner is null or owner = (select memwarden.principal()));
create policy owner on memwarden.candidate as restrictive
  using (owner is null or owner = (select memwarden.principal()))
  with check (owner is null or owner = (select memwarden.principal()));
create policy owner on memwarden.decision as restrictive
  using (owner is null or owner = (select memwarden.principal()))
  with check (owner is null or owner = (select memwarden.principal()));
create policy owner on memwarden.intake as restrictive
  using (owner_key = '' or owner_key = (select memwarden.principal()))
  with check (owner_key = '' or owner_key = (select memwarden.principal()));

create policy domain_read on memwarden.memory as restrictive for select
  using ((select memwarden.every_domain('readable')) or domain_id = any ((select memwarden.domain_ids('readable'))::uuid[]));
-- A person brings a memory about themselves into force without the right to write in its domain.
create policy domain_insert on memwarden.memory as restrictive for insert
  with check ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[])
    or about = (select memwarden.person()) or owner = (select memwarden.person()));

create policy domain_read on memwarden.decision as restrictive for select
  using ((select memwarden.every_domain('readable')) or domain_id = any ((select memwarden.domain_ids('readable'))::uuid[]));
create policy domain_insert on memwarden.decision as restrictive for insert
  with check ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[]));

-- What is not in force is seen by reviewers alone: the setting `administered` is empty unless the caller is a person.
create policy review_read on memwarden.candidate as restrictive for select
  using ((select memwarden.every_domain('administered'))
    or domain_id = any ((select memwarden.domain_ids('administered'))::uuid[])
    or about = (select memwarden.person()) or owner = (select memwarden.person()));
create policy review_delete on memwarden.candidate as restrictive for delete
  using ((select memwarden.every_domain('administered'))
    or domain_id = any ((select memwarden.domain_ids('administered'))::uuid[])
    or about = (select memwarden.person()) or owner = (select memwarden.person()));
create policy domain_insert on memwarden.candidate as restrictive for insert
  with check ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[]));

-- Who may review a candidate may release what was remembered of its intake.
create policy domain_read on memwarden.intake as restrictive for select
  using ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[])
    or exists (select from memwarden.candidate c where c.workspace_id = intake.workspace_id and c.id = intake.id));
create policy domain_insert on memwarden.intake as restrictive for insert
  with check ((select memwarden.every_domain('writable'))
    or domain_id = any ((select memwarden.domain_ids('writable'))::uuid[]));
create policy review_delete on memwarden.intake as restrictive for delete
  using (exists (select from memwarden.candidate c where c.workspace_id = intake.workspace_id and c.id = intake.id));

-- Finding a workspace comes before knowing it: these two roles own a handful of functions, and nobody logs in as them.
create policy registry on memwarden.workspace to mw_registry using (true) with check (true);
create policy registry on memwarden.fence to mw_registry using (true) with check (true);
create policy registry on memwarden.ruleset for select to mw_registry using (true);
create policy registry on memwarden.api_key for select to mw_registry using (true);

grant usage on schema memwarden to mw_app, mw_registry, mw_journal;
grant select on memwarden.workspace, memwarden.ruleset, memwarden.policy_object, memwarden.domain, memwarden.decision,
  memwarden.memory, memwarden.candidate, memwarden.intake, memwarden.journal, memwarden.journal_head, memwarden.api_key,
  memwarden.idempotency, memwarden.alembic_version to mw_app;
grant insert on memwarden.ruleset, memwarden.policy_object, memwarden.domain, memwarden.decision, memwarden.memory,
  memwarden.candidate, memwarden.intake, memwarden.api_key, memwarden.idempotency to mw_app;
grant update on memwarden.ruleset, memwarden.policy_object to mw_app;
grant delete on memwarden.policy_object, memwarden.candidate, memwarden.intake, memwarden.api_key, memwarden.idempotency
  to mw_app;
grant select, insert, update on memwarden.workspace, memwarden.fence to mw_registry;
grant select on memwarden.ruleset, memwarden.api_key to mw_registry;
grant select, insert on memwarden.journal to mw_journal;
grant select, insert, update on memwarden.journal_head to mw_journal;
