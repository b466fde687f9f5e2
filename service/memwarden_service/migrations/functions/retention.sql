-- Run as mw_retention: how terms are kept. Only what the service reckoned by the newest rules is ever ended.
set local role mw_owner;
grant create on schema memwarden to mw_retention;
set local role mw_retention;

-- The workspaces in which something is to be reckoned or ended: each is asked, so that none waits behind a busy one.
create or replace function memwarden.retention_work(p_limit integer) returns table (workspace_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select r.workspace_id from memwarden.ruleset r
    where exists (select from memwarden.memory m where m.workspace_id = r.workspace_id and m.ends_at <= now()
        and m.held_by is null)
      or exists (select from memwarden.memory_version v where v.workspace_id = r.workspace_id and v.ends_at <= now()
        and v.held_by is null)
      or exists (select from memwarden.memory m where m.workspace_id = r.workspace_id and m.valid_until <= now())
      or exists (select from memwarden.memory m where m.workspace_id = r.workspace_id and m.retention is null)
      or not exists (select from memwarden.reckoning k where k.workspace_id = r.workspace_id
        and k.revision = r.revision and k.after is null)
    limit p_limit
$$;

-- Whether this process may reckon in the workspace now: no other is at it, and these are still its rules. Holds as long as
-- the transaction; who comes next with newer rules finds all that was reckoned by older ones.
create or replace function memwarden.retention_enter(p_revision bigint) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select pg_try_advisory_xact_lock(hashtextextended('retention ' || memwarden.current_workspace(), 0))
    and exists (select from memwarden.ruleset r where r.workspace_id = memwarden.current_workspace()
      and r.revision = p_revision)
$$;

-- For how long what has ended longest has not been deleted, in seconds.
create or replace function memwarden.retention_lag() returns double precision
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select coalesce(extract(epoch from now() - min(m.ends_at)), 0)::double precision
    from memwarden.memory m where m.ends_at <= now() and m.held_by is null
$$;

-- What the end of a memory depends on, without its words. `p_after` null: those that were not reckoned yet.
create or replace function memwarden.retention_rows(p_after uuid, p_limit integer) returns setof jsonb
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select to_jsonb(m) || jsonb_build_object('content', '', 'words', null, 'value', null, 'encryption_state', 'plaintext',
      'reason', '', 'vault_vector', null, 'domain',
    d.name)
  from memwarden.memory m
    join memwarden.domain d on d.workspace_id = m.workspace_id and d.id = m.domain_id
  where m.workspace_id = memwarden.current_workspace()
    and (case when p_after is null then m.retention is null else m.id > p_after end)
  order by m.id limit p_limit
$$;

-- The same of past versions, in order of id and version.
create or replace function memwarden.retention_past(p_after uuid, p_version integer, p_limit integer) returns setof jsonb
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select to_jsonb(v) || jsonb_build_object('content', '', 'words', null, 'value', null, 'encryption_state', 'plaintext',
      'reason', '', 'vault_vector', null, 'domain',
    d.name)
  from memwarden.memory_version v
    join memwarden.domain d on d.workspace_id = v.workspace_id and d.id = v.domain_id
  where v.workspace_id = memwarden.current_workspace() and (v.id, v.version) > (p_after, p_version)
  order by v.id, v.version limit p_limit
$$;

-- Takes down when rows end: a list of {id, version, ends_at, ends_by, retention}.
create or replace function memwarden.retention_reckoned(p jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update memwarden.memory m set ends_at = r.ends_at, ends_by = r.ends_by, retention = r.retention
    from jsonb_to_recordset(p) as r (id uuid, version integer, ends_at timestamptz, ends_by text, retention text)
    where m.workspace_id = memwarden.current_workspace() and m.id = r.id and m.version = r.version;
  update memwarden.memory_version v set ends_at = r.ends_at, ends_by = r.ends_by, retention = r.retention
    from jsonb_to_recordset(p) as r (id uuid, version integer, ends_at timestamptz, ends_by text, retention text)
    where v.workspace_id = memwarden.current_workspace() and v.id = r.id and v.version = r.version;
$$;

-- Where the reckoning of this workspace stands, and a note of where it stands now.
create or replace function memwarden.retention_stand() returns setof memwarden.reckoning
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select k.* from memwarden.reckoning k where k.workspace_id = memwarden.current_workspace()
$$;
create or replace function memwarden.retention_note(p_revision bigint, p_retention text, p_after uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into memwarden.reckoning values (memwarden.current_workspace(), p_revision, p_retention, p_after)
    on conflict (workspace_id) do update set revision = excluded.revision, retention = excluded.retention,
      after = excluded.after
$$;

-- Ends what is due of what was reckoned by `p_retention`, a bounded number, and writes it in the journal: what a
-- retention ends is deleted with its past, what has a term of its own is moved to the past. `p_id` null: whatever it is.
create or replace function memwarden.retention_end(p_revision bigint, p_retention text, p_limit integer,
  p_by text, p_id uuid)
returns table (by text, ended bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
  gone jsonb;
  past jsonb;
  terms jsonb;
begin
  -- A ruleset is put behind the same lock: these are still the rules by which the ends were reckoned.
  perform memwarden.journal_lock();
  perform from memwarden.ruleset r where r.workspace_id = w and r.revision = p_revision;
  if not found then
    return;
  end if;
  with due as (
    select m.id from memwarden.memory m where m.workspace_id = w and m.ends_at <= now() and m.held_by is null
      and m.retention = p_retention and (p_id is null or m.id = p_id) order by m.ends_at limit p_limit),
  ended as (delete from memwarden.memory m using due where m.workspace_id = w and m.id = due.id
    returning m.id, m.owner, m.ends_by)
  select jsonb_agg(jsonb_build_object('id', e.id, 'owner', e.owner, 'by', e.ends_by)) into gone from ended e;
  -- The past of what is no longer in force ends by itself; none of it does while any of it is held.
  with due as (
    select v.id, v.version from memwarden.memory_version v where v.workspace_id = w and v.ends_at <= now()
      and v.held_by is null and v.retention = p_retention and (p_id is null or v.id = p_id)
      and not exists (select from memwarden.memory m where m.workspace_id = w and m.id = v.id)
      and not exists (select from memwarden.memory_version h where h.workspace_id = w and h.id = v.id
        and h.held_by is not null)
      order by v.ends_at limit p_limit),
  ended as (delete from memwarden.memory_version v using due
    where v.workspace_id = w and v.id = due.id and v.version = due.version returning v.id, v.owner, v.ends_by)
  select jsonb_agg(distinct jsonb_build_object('id', e.id, 'owner', e.owner, 'by', e.ends_by)) into past from ended e;
  if gone is not null then
    delete from memwarden.memory_version v where v.workspace_id = w
      and v.id in (select (g ->> 'id')::uuid from jsonb_array_elements(gone) g);
    delete from memwarden.feedback f where f.workspace_id = w
      and f.memory_id in (select (g ->> 'id')::uuid from jsonb_array_elements(gone) g);
    delete from memwarden.candidate c where c.workspace_id = w
      and c.target in (select (g ->> 'id')::uuid from jsonb_array_elements(gone) g);
    delete from memwarden.intake i where i.workspace_id = w
      and i.id in (select (g ->> 'id')::uuid from jsonb_array_elements(gone) g);
  end if;
  select jsonb_agg(jsonb_build_object('id', d.id, 'owner', d.owner, 'by', 'valid_until')) into terms from (
    select m.id, m.owner from memwarden.memory m where m.workspace_id = w and m.valid_until <= now()
      and (p_id is null or m.id = p_id) order by m.valid_until limit p_limit) d
    where memwarden.retire(d.id, jsonb_build_object('as', 'expired', 'by', p_by, 'reason', null, 'successor', null));
  perform memwarden.journal_append(jsonb_build_object('action', 'memory.expired', 'actor', p_by, 'principal', e.owner,
      'object', null, 'decision', null, 'revision', null, 'detail', e.detail))
    from (select g ->> 'owner' as owner, jsonb_build_object('by', g ->> 'by', 'memories', jsonb_agg(g ->> 'id'))
        || case when g ->> 'owner' is null then '{}' else jsonb_build_object('private', true) end as detail
      from jsonb_array_elements(coalesce(gone, '[]') || coalesce(past, '[]') || coalesce(terms, '[]')) g group by g ->> 'owner', g ->> 'by') e;
  return query select g ->> 'by', count(*) from jsonb_array_elements(coalesce(gone, '[]') || coalesce(past, '[]') || coalesce(terms, '[]')) g
    group by g ->> 'by';
end $$;

-- Lifts the hold of the past versions of a memory; when they end is to be reckoned now.
create or replace function memwarden.retention_lift(p_id uuid) returns bigint
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with lifted as (
    update memwarden.memory_version v set held_by = null, held_at = null, held_reason = null, retention = null
      where v.workspace_id = memwarden.current_workspace() and v.id = p_id and v.held_by is not null returning 1)
  select count(*) from lifted
$$;

revoke execute on function memwarden.retention_work(integer), memwarden.retention_lag(),
  memwarden.retention_rows(uuid, integer), memwarden.retention_past(uuid, integer, integer),
  memwarden.retention_enter(bigint), memwarden.retention_reckoned(jsonb),
  memwarden.retention_stand(), memwarden.retention_note(bigint, text, uuid),
  memwarden.retention_end(bigint, text, integer, text, uuid), memwarden.retention_lift(uuid) from public;
grant execute on function memwarden.retention_work(integer), memwarden.retention_lag(),
  memwarden.retention_rows(uuid, integer), memwarden.retention_past(uuid, integer, integer),
  memwarden.retention_enter(bigint), memwarden.retention_reckoned(jsonb),
  memwarden.retention_stand(), memwarden.retention_note(bigint, text, uuid),
  memwarden.retention_end(bigint, text, integer, text, uuid), memwarden.retention_lift(uuid) to mw_app;

set local role mw_owner;
revoke create on schema memwarden from mw_retention;
