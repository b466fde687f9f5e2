-- How the words of memories are kept, whoever writes, changes or ends them. Triggers run with the writer's rights.

-- Gives a memory the next place in its session; a new version keeps the place it has.
create or replace function memwarden.takes_place() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select coalesce(max(m.position), -1) + 1 into new.position from memwarden.memory m
    where m.workspace_id = new.workspace_id and m.session = new.session;
  return new;
end $$;
create or replace trigger takes_place before insert on memwarden.memory for each row
  when (new.session is not null and new.position is null) execute function memwarden.takes_place();

create or replace function memwarden.keeps_words() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op <> 'INSERT' and old.words is not null then
    delete from memwarden.posting p where p.workspace_id = old.workspace_id and p.memory_id = old.id
      and p.lexeme = any (array(select jsonb_object_keys(old.words -> 'lexemes')));
    update memwarden.shelf s set memories = s.memories - 1, words = s.words - (old.words ->> 'length')::integer
      where s.workspace_id = old.workspace_id and s.domain_id = old.domain_id and s.owner_key = coalesce(old.owner, '');
  end if;
  if tg_op <> 'DELETE' and new.words is not null then
    insert into memwarden.posting (workspace_id, lexeme, memory_id, domain_id, owner, count, length)
      select new.workspace_id, f.key, new.id, new.domain_id, new.owner, f.value::integer,
        (new.words ->> 'length')::integer from jsonb_each_text(new.words -> 'lexemes') f;
    insert into memwarden.shelf as s (workspace_id, domain_id, owner_key, memories, words) values (new.workspace_id,
      new.domain_id, coalesce(new.owner, ''), 1, (new.words ->> 'length')::integer)
      on conflict (workspace_id, domain_id, owner_key)
      do update set memories = s.memories + 1, words = s.words + excluded.words;
  end if;
  return null;
end $$;
create or replace trigger keeps_words after insert or delete or update of words on memwarden.memory
  for each row execute function memwarden.keeps_words();

revoke execute on function memwarden.takes_place(), memwarden.keeps_words() from public;
grant execute on function memwarden.takes_place(), memwarden.keeps_words() to mw_app, mw_retention;

-- Run as mw_retention: memories that were written before search kept words.
grant create on schema memwarden to mw_retention;
set local role mw_retention;

-- The workspaces in which words are to be read.
create or replace function memwarden.unread_work(p_limit integer) returns table (workspace_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select distinct u.workspace_id from (select m.workspace_id from memwarden.memory m
    where m.words is null and m.server_content_search_enabled limit p_limit) u
$$;
create or replace function memwarden.unread_rows(p_limit integer) returns table (id uuid, version integer, content text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select m.id, m.version, m.content from memwarden.memory m where m.workspace_id = memwarden.current_workspace()
    and m.words is null and m.server_content_search_enabled order by m.id limit p_limit
$$;
-- Keeps what was read: a list of {id, version, words}.
create or replace function memwarden.keep_words(p jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select memwarden.journal_lock();
  update memwarden.memory m set words = r.words from jsonb_to_recordset(p) as r (id uuid, version integer, words jsonb)
    where m.workspace_id = memwarden.current_workspace() and m.id = r.id and m.version = r.version and m.words is null
      and m.server_content_search_enabled
$$;
revoke execute on function memwarden.unread_work(integer), memwarden.unread_rows(integer), memwarden.keep_words(jsonb)
  from public;
grant execute on function memwarden.unread_work(integer), memwarden.unread_rows(integer), memwarden.keep_words(jsonb)
  to mw_app;

set local role mw_owner;
revoke create on schema memwarden from mw_retention;
