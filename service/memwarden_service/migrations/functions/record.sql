-- The write path's one statement, which now also checks what a proposal was decided by.

-- At which of two steps (few, many) a count is: 0 below both, 2 from the second on; null counts as 0.
create or replace function memwarden.step_of(p_count integer, p_steps jsonb) returns integer language sql immutable as
  $$ select case when p_count >= (p_steps ->> 1)::integer then 2 when p_count >= (p_steps ->> 0)::integer then 1 else 0 end $$;

-- Records one decided proposal, whole, or says why not. Runs with the caller's rights: row-level security applies.
-- Keys of `p`: revision, decision, row (null when refused), held, domain, owner_key, event_key (or null), entry, refusal,
-- idempotency {key, request, lock, expires_at} or null; arrival (null: it is not counted); claim (the key of its
-- tombstone), place {memory_type, topic, subject} or null, and known {was_rejected, redacts, supersedes, version}: what it was decided by. Answers (state, answer).
create or replace function memwarden.record(p jsonb, out state text, out answer jsonb)
language plpgsql strict set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
  idem jsonb := nullif(p -> 'idempotency', 'null');
  made memwarden.decision := jsonb_populate_record(null::memwarden.decision, p -> 'decision');
  is_refused boolean := p -> 'row' = 'null';
  event_key bytea := decode(p ->> 'event_key', 'hex');
  known memwarden.intake;
  present memwarden.memory;
  old memwarden.memory;
  was_rejected boolean;
  redacts boolean;
  arrival jsonb := nullif(p -> 'arrival', 'null');
  alike integer;
  in_window integer;
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
    select * into present from memwarden.memory m where m.workspace_id = w and m.id = known.id;
    if present.id is null and known.expires_at <= now() then
      state := 'expired';
      answer := jsonb_build_object('id', known.id);
      return;
    end if;
    if present.id is not null and not memwarden.is_in_force(present) then
      perform memwarden.retire(present.id, jsonb_build_object('as', 'expired', 'by', made.actor, 'reason', null,
        'successor', null));
      known := null;
    end if;
  end if;

  if known.id is not null then
    state := 'repeated';
    answer := jsonb_build_object('id', known.id, 'decision', known.decision_id,
      'status', case when present.id is not null then 'confirmed' else 'held' end);
  else
    was_rejected := exists (select from memwarden.tombstone t where t.workspace_id = w and t.domain_id = made.domain_id
      and t.owner_key = p ->> 'owner_key' and t.key = decode(p ->> 'claim', 'hex'));
    if p -> 'place' <> 'null' then
      select * into old from memwarden.in_place_of(made.domain_id, made.owner, p -> 'place' ->> 'memory_type',
        p -> 'place' ->> 'topic', p -> 'place' ->> 'subject');
    end if;
    redacts := made.owner is not null and exists (select from memwarden.person_setting s where s.workspace_id = w
      and s.person = made.owner and s.auto_redact_pii);
    -- Counted no further than the last step at which a count worries; what is older than a day is of no interest.
    if arrival is not null then
      select count(*) into alike from (select from memwarden.arrival a where a.workspace_id = w
        and a.source_key = decode(arrival ->> 'source', 'hex') and a.likeness = decode(arrival ->> 'likeness', 'hex')
        and a.at > now() - (arrival ->> 'recent')::interval limit (arrival -> 'steps' -> 'similar' ->> 1)::integer) same;
      select count(*) into in_window from (select from memwarden.arrival a where a.workspace_id = w
        and a.source_key = decode(arrival ->> 'source', 'hex') and a.at > now() - (arrival ->> 'window')::interval
        limit (arrival -> 'steps' -> 'in_window' ->> 1)::integer) lately;
    end if;
    -- It was decided without knowing what is known here: decide again.
    if memwarden.step_of(alike, arrival -> 'steps' -> 'similar')
        <> memwarden.step_of((arrival ->> 'similar')::integer, arrival -> 'steps' -> 'similar')
      or memwarden.step_of(in_window, arrival -> 'steps' -> 'in_window')
        <> memwarden.step_of((arrival ->> 'in_window')::integer, arrival -> 'steps' -> 'in_window')
      or redacts and not (p -> 'known' ->> 'redacts')::boolean or was_rejected <> (p -> 'known' ->> 'was_rejected')::boolean
      or (old.id, old.version) is distinct from ((p -> 'known' ->> 'supersedes')::uuid, (p -> 'known' ->> 'version')::integer)
    then
      state := 'known';
      answer := jsonb_build_object('was_rejected', was_rejected, 'redacts', redacts,
        'counts', case when arrival is not null then jsonb_build_object('similar', alike, 'in_window', in_window) end,
        'supersedes', case when old.id is not null then to_jsonb(old) end);
      return;
    end if;
    insert into memwarden.decision select made.*;
    if arrival is not null then
      insert into memwarden.arrival values (w, decode(arrival ->> 'source', 'hex'), now(), made.id,
        decode(arrival ->> 'likeness', 'hex'));
      delete from memwarden.arrival a where a.workspace_id = w and a.source_key = decode(arrival ->> 'source', 'hex')
        and a.at <= now() - (arrival ->> 'recent')::interval;
    end if;
    if not is_refused then
      insert into memwarden.domain (workspace_id, id, name) values (w, made.domain_id, p ->> 'domain')
        on conflict do nothing;
      if (p ->> 'held')::boolean then
        insert into memwarden.candidate select * from jsonb_populate_record(null::memwarden.candidate, p -> 'row');
      else
        if old.id is not null then
          perform memwarden.retire(old.id, jsonb_build_object('as', 'superseded', 'by', made.actor, 'reason', null,
            'successor', p -> 'row' -> 'id'));
        end if;
        insert into memwarden.memory select * from jsonb_populate_record(null::memwarden.memory, p -> 'row');
      end if;
      insert into memwarden.intake (workspace_id, domain_id, owner_key, scope, key, id, decision_id, expires_at)
        values (w, made.domain_id, p ->> 'owner_key', 'content', made.content_key, (p -> 'row' ->> 'id')::uuid, made.id,
          (p -> 'row' ->> 'expires_at')::timestamptz);
      if event_key is not null then
        insert into memwarden.intake (workspace_id, domain_id, owner_key, scope, key, id, decision_id, expires_at)
          values (w, made.domain_id, p ->> 'owner_key', 'event', event_key, (p -> 'row' ->> 'id')::uuid, made.id,
            (p -> 'row' ->> 'expires_at')::timestamptz);
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

revoke execute on function memwarden.step_of(integer, jsonb) from public;
grant execute on function memwarden.step_of(integer, jsonb) to mw_app;
