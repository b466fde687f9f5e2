-- Run as mw_journal: the application may append to the journal, and only so.

create function memwarden.journal_lock() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
begin
  perform from memwarden.journal_head h where h.workspace_id = w for update;
  if not found then
    insert into memwarden.journal_head values (w, 0, decode(repeat('00', 32), 'hex')) on conflict do nothing;
    perform from memwarden.journal_head h where h.workspace_id = w for update;
  end if;
end $$;

-- `p` holds action, actor, principal, object, decision, revision, detail. The entry is a JSON array in that order after
-- format, workspace, number and time.
create function memwarden.journal_append(p jsonb) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
  head memwarden.journal_head;
  line text;
  made bytea;
begin
  select * into head from memwarden.journal_head h where h.workspace_id = w for update;
  if not found then
    perform memwarden.journal_lock();
    select * into strict head from memwarden.journal_head h where h.workspace_id = w;
  end if;
  line := jsonb_build_array(1, w, head.seq + 1, to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    p -> 'action', p -> 'actor', p -> 'principal', p -> 'object', p -> 'decision', p -> 'revision', p -> 'detail')::text;
  made := memwarden.journal_hash(head.hash, line);
  insert into memwarden.journal values (w, head.seq + 1, line, head.hash, made);
  update memwarden.journal_head h set seq = head.seq + 1, hash = made where h.workspace_id = w;
  return head.seq + 1;
end $$;

revoke execute on function memwarden.journal_lock(), memwarden.journal_append(jsonb) from public;
grant execute on function memwarden.journal_lock(), memwarden.journal_append(jsonb) to mw_app;
