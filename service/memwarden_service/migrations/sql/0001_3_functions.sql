-- The few functions. Those that run with other rights than the caller's have a fixed search path.

create function memwarden.move_revision() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  touched uuid := coalesce(new.workspace_id, old.workspace_id);
begin
  -- The operator's word on an object that is not in force changes no rule; whatever another hand changes is to be seen.
  if tg_op = 'UPDATE' and (new is not distinct from old or memwarden.is_operator()
    and (new.workspace_id, new.kind, new.namespace, new.name, new.uid, new.spec, new.digest)
    is not distinct from (old.workspace_id, old.kind, old.namespace, old.name, old.uid, old.spec, old.digest)) then
    return null;
  end if;
  update memwarden.ruleset set revision = revision + 1, moved_in = pg_current_xact_id()::text::bigint
    where workspace_id = touched and moved_in <> pg_current_xact_id()::text::bigint;
  return null;
end $$;
create trigger move_revision after insert or update or delete on memwarden.policy_object
  for each row execute function memwarden.move_revision();

create function memwarden.watch_ruleset() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- A revision never comes back: whoever puts a lower one in place gets the next.
  if tg_op = 'UPDATE' and (new.revision < old.revision or (new.store, new.digest) is distinct from (old.store, old.digest)
    and new.revision = old.revision and old.moved_in <> pg_current_xact_id()::text::bigint) then
    new.revision := old.revision + 1;
    new.moved_in := pg_current_xact_id()::text::bigint;
  end if;
  if tg_op = 'INSERT' or new.revision <> old.revision then
    perform pg_notify('memwarden_ruleset', new.workspace_id::text);
  end if;
  return new;
end $$;
create trigger watch_ruleset before insert or update on memwarden.ruleset
  for each row execute function memwarden.watch_ruleset();

-- Records one decided proposal, whole, or says why not. Runs with the caller's rights: row-level security applies.
-- Keys of `p`: revision, decision, row (null when refused), held, domain, owner_key, event_key (or null), entry, refusal,
-- idempotency {key, request, lock, expires_at} or null. Answers (state, answer).
create function memwarden.record(p jsonb, out state text, out answer jsonb)
language plpgsql strict set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
  idem jsonb := nullif(p -> 'idempotency', 'null');
  made memwarden.decision := jsonb_populate_record(null::memwarden.decision, p -> 'decision');
  is_refused boolean := p -> 'row' = 'null';
  event_key bytea := decode(p ->> 'event_key', 'hex');
  known memwarden.intake;
begin
  if idem is not null then
    if not pg_try_advisory_xact_lock((idem ->> 'lock')::bigint) then
      state := 'busy';
      return;
    end if;
    select case when i.request = decode(idem ->> 'request', 'hex') then 'replayed' else 'mismatch' end, i.answer
      into state, answer from memwarden.idempotency i
      where i.workspace_id = w and i.key = decode(idem ->> 'key', 'hex') and i.expires_at > now();
    if found then
      return;
    end if;
  end if;

  -- From here on this workspace's writes are one behind the other; a ruleset is put behind the same lock.
  perform memwarden.journal_lock();
  perform from memwarden.ruleset r where r.workspace_id = w and r.revision = (p ->> 'revision')::bigint;
  if not found then
    state := 'moved';
    return;
  end if;

  -- One lookup a key: joined to a set of keys, the planner reads the whole index.
  if event_key is not null then
    select i.* into known from memwarden.intake i where i.workspace_id = w
      and i.domain_id = made.domain_id and i.owner_key = p ->> 'owner_key' and i.scope = 'event' and i.key = event_key;
  end if;
  if known.id is null then
    select i.* into known from memwarden.intake i where i.workspace_id = w
      and i.domain_id = made.domain_id and i.owner_key = p ->> 'owner_key' and i.scope = 'content'
      and i.key = made.content_key;
  end if;
  if known.id is not null then
    state := 'repeated';
    answer := jsonb_build_object('id', known.id, 'decision', known.decision_id,
      'status', case when exists (select from memwarden.memory m where m.workspace_id = w and m.id = known.id)
        then 'confirmed' else 'held' end);
  else
    insert into memwarden.decision select made.*;
    if not is_refused then
      insert into memwarden.domain (workspace_id, id, name) values (w, made.domain_id, p ->> 'domain')
        on conflict do nothing;
      if (p ->> 'held')::boolean then
        insert into memwarden.candidate select * from jsonb_populate_record(null::memwarden.candidate, p -> 'row');
      else
        insert into memwarden.memory select * from jsonb_populate_record(null::memwarden.memory, p -> 'row');
      end if;
      insert into memwarden.intake (workspace_id, domain_id, owner_key, scope, key, id, decision_id)
        values (w, made.domain_id, p ->> 'owner_key', 'content', made.content_key, (p -> 'row' ->> 'id')::uuid, made.id);
      if event_key is not null then
        insert into memwarden.intake (workspace_id, domain_id, owner_key, scope, key, id, decision_id)
          values (w, made.domain_id, p ->> 'owner_key', 'event', event_key, (p -> 'row' ->> 'id')::uuid, made.id);
      end if;
    end if;
    perform memwarden.journal_append(p -> 'entry');
    state := 'recorded';
    answer := case when is_refused then p -> 'refusal' else jsonb_build_object('id', p -> 'row' ->> 'id',
      'decision', made.id, 'status', case when (p ->> 'held')::boolean then 'held' else 'confirmed' end) end;
  end if;

  if idem is not null then
    delete from memwarden.idempotency i where i.workspace_id = w and i.expires_at <= now();
    insert into memwarden.idempotency (workspace_id, key, request, answer, expires_at) values (w,
      decode(idem ->> 'key', 'hex'), decode(idem ->> 'request', 'hex'), answer, (idem ->> 'expires_at')::timestamptz);
  end if;
end $$;

-- A confirmed candidate moves into memory; a rejected one goes, and with it what its intake remembered.
create function memwarden.review(p_id uuid, p_confirmed_by text, p_entry jsonb) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
  held memwarden.candidate;
begin
  select * into held from memwarden.candidate c where c.workspace_id = w and c.id = p_id;
  if not found then
    return false;
  end if;
  if p_confirmed_by is null then
    delete from memwarden.intake i where i.workspace_id = w and i.id = p_id;
  else
    insert into memwarden.memory select * from jsonb_populate_record(null::memwarden.memory, to_jsonb(held)
      || jsonb_build_object('confirmed_by', p_confirmed_by, 'in_force_from', now(), 'version', held.version + 1));
  end if;
  delete from memwarden.candidate c where c.workspace_id = w and c.id = p_id;
  perform memwarden.journal_append(p_entry);
  return true;
end $$;

-- SHA-256 of the previous hash and the entry, under a name of its own so that no other hash can pass for it.
create function memwarden.journal_hash(prev bytea, entry text) returns bytea language sql immutable as
  $$ select sha256(convert_to('memwarden.journal.v1', 'UTF8') || prev || convert_to(entry, 'UTF8')) $$;

create function memwarden.journal_verification(out entries bigint, out first_bad_seq bigint, out head_matches boolean)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with chain as (
    select j.seq, j.hash, j.prev = lag(j.hash, 1, decode(repeat('00', 32), 'hex')) over w
        and j.seq = lag(j.seq, 1, 0::bigint) over w + 1
        -- Only an entry that hashes right is sure to be JSON.
        and case when j.hash = memwarden.journal_hash(j.prev, j.entry) then
          j.entry::jsonb ->> 1 = j.workspace_id::text and (j.entry::jsonb ->> 2)::bigint = j.seq else false end as is_good
      from memwarden.journal j where j.workspace_id = memwarden.current_workspace() window w as (order by j.seq)
  )
  select count(*), min(seq) filter (where not is_good),
    -- A workspace that has rules has the entry of their putting at least: an empty journal is none.
    coalesce((select (h.seq, h.hash) = (select c.seq, c.hash from chain c order by c.seq desc limit 1)
      from memwarden.journal_head h where h.workspace_id = memwarden.current_workspace()), false)
  from chain
$$;

revoke execute on all functions in schema memwarden from public;
grant execute on function memwarden.record(jsonb), memwarden.review(uuid, text, jsonb), memwarden.journal_verification(),
  memwarden.journal_hash(bytea, text), memwarden.move_revision(), memwarden.watch_ruleset() to mw_app;
grant execute on function memwarden.journal_hash(bytea, text) to mw_journal;
