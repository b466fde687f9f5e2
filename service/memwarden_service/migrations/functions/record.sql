-- The write path's one statement, which now also checks what a proposal was decided by.

-- Records one decided proposal, whole, or says why not. Runs with the caller's rights: row-level security applies.
-- Keys of `p`: revision, decision, row (null when refused), held, domain, owner_key, event_key (or null), entry, refusal,
-- idempotency {key, request, lock, expires_at} or null; claim (the key of its tombstone), place {memory_type, topic,
-- subject} or null, and known {was_rejected, redacts, supersedes, version}: what it was decided by. Answers (state, answer).
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
    -- It was decided without knowing what is known here: decide again.
    if redacts and not (p -> 'known' ->> 'redacts')::boolean or was_rejected <> (p -> 'known' ->> 'was_rejected')::boolean
      or (old.id, old.version) is distinct from ((p -> 'known' ->> 'supersedes')::uuid, (p -> 'known' ->> 'version')::integer)
    then
      state := 'known';
      answer := jsonb_build_object('was_rejected', was_rejected, 'redacts', redacts,
        'supersedes', case when old.id is not null then to_jsonb(old) end);
      return;
    end if;
    insert into memwarden.decision select made.*;
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
