-- Run as mw_registry: what must be known before a workspace is, and what belongs to no workspace.

create function memwarden.resolve(p_name text)
returns table (workspace_id uuid, revision bigint, moved_in bigint, digest text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select w.id, r.revision, r.moved_in, r.digest from memwarden.workspace w join memwarden.ruleset r on r.workspace_id = w.id
    where w.name = p_name and w.closed_at is null
$$;

create function memwarden.find_key(p_id text)
returns table (workspace text, name text, person text, maker text, hash bytea, expires_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select w.name, k.name, k.person, k.maker, k.hash, k.expires_at from memwarden.api_key k
    join memwarden.workspace w on w.id = k.workspace_id and w.closed_at is null where k.id = p_id limit 1
$$;

create function memwarden.list_workspaces(p_after text, p_limit integer)
returns table (id uuid, name text, revision bigint, moved_in bigint, digest text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select w.id, w.name, r.revision, r.moved_in, r.digest from memwarden.workspace w join memwarden.ruleset r on r.workspace_id = w.id
    where w.closed_at is null and w.name > p_after order by w.name limit p_limit
$$;

-- False for a term lower than the last. Holds the row to the end of the transaction, so that a late one cannot slip by.
create function memwarden.pass_fence(p_term bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update memwarden.fence set term = p_term where term < p_term;
  perform from memwarden.fence where term = p_term for share;
  return found;
end $$;

-- A namespace of the same name with a new uid is a new, empty workspace; the same uid again is the same one.
-- Answers 'opened', 'there', or 'renamed' when the uid is known under another name.
create function memwarden.open_workspace(p_id uuid, p_name text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  held memwarden.workspace;
begin
  select * into held from memwarden.workspace w where w.id = p_id for update;
  if found and held.name <> p_name then
    return 'renamed';
  end if;
  if found and held.closed_at is null then
    return 'there';
  end if;
  update memwarden.workspace w set closed_at = now() where w.name = p_name and w.closed_at is null;
  insert into memwarden.workspace (id, name) values (p_id, p_name) on conflict (id) do update set closed_at = null;
  return 'opened';
end $$;

create function memwarden.close_workspace(p_id uuid) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update memwarden.workspace w set closed_at = now() where w.id = p_id and w.closed_at is null;
  return found;
end $$;

revoke execute on function memwarden.resolve(text), memwarden.find_key(text), memwarden.list_workspaces(text, integer),
  memwarden.pass_fence(bigint), memwarden.open_workspace(uuid, text), memwarden.close_workspace(uuid) from public;
grant execute on function memwarden.resolve(text), memwarden.find_key(text), memwarden.list_workspaces(text, integer),
  memwarden.pass_fence(bigint), memwarden.open_workspace(uuid, text), memwarden.close_workspace(uuid) to mw_app;
