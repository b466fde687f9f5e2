-- Run as mw_registry: what is due in any workspace, and of it no more than where it is and whose.

create function memwarden.due_candidates(p_limit integer) returns table (workspace_id uuid, id uuid, owner text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select c.workspace_id, c.id, c.owner from memwarden.candidate c
    join memwarden.workspace w on w.id = c.workspace_id and w.closed_at is null
    where c.expires_at <= now() order by c.expires_at limit p_limit
$$;

revoke execute on function memwarden.due_candidates(integer) from public;
grant execute on function memwarden.due_candidates(integer) to mw_app;
