-- What becomes of a memory and of a candidate. All run with the caller's rights: row-level security applies.

-- The one condition of retention: what has ended is there for nobody, whether or not it was deleted already.
create or replace function memwarden.is_kept(p_ends_at timestamptz, p_held_by text) returns boolean
language sql stable as $$ select p_ends_at is null or p_ends_at > now() or p_held_by is not null $$;

-- What is to be remembered of earlier confidences when `p_before` gives way to `p_after` now. Only what no later one
-- exceeds tells since when the confidence has been below some number; beyond 16, two become one, the later.
create or replace function memwarden.falls_after(p_falls jsonb, p_before numeric, p_after numeric) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  kept jsonb;
begin
  if p_before = p_after then
    return p_falls;
  end if;
  select jsonb_agg(each order by n) into kept from (
    select each, n, max((each ->> 'confidence')::numeric) over (order by n desc rows between unbounded preceding and 1
      preceding) as later
    from jsonb_array_elements(coalesce(p_falls, '[]') || jsonb_build_array(jsonb_build_object('confidence', p_before,
      'until', now()))) with ordinality as held (each, n)) listed
    where (each ->> 'confidence')::numeric > p_after
      and (later is null or (each ->> 'confidence')::numeric > later);
  while jsonb_array_length(kept) > 16 loop
    kept := jsonb_set(kept, '{-2,until}', kept -> -1 -> 'until') - (-1);
  end loop;
  return kept;
end $$;

-- Whether a memory holds now. Whatever ends a life with time (a term, a retention) is a condition in here, and so is at
-- once obeyed by every reader, whether or not a job has run.
create or replace function memwarden.is_in_force(m memwarden.memory) returns boolean language sql stable as
  $$ select m.status in ('confirmed', 'needs_verification') and (m.valid_until is null or m.valid_until > now())
    and memwarden.is_kept(m.ends_at, m.held_by) $$;

-- The one condition under which the service gives out a memory that nobody named by its id: every list, count, search,
-- suggestion, preamble and export. Beside it, search asks server_content_search_enabled before it keeps words of a memory,
-- and server_embeddings_enabled before it embeds them.
create or replace function memwarden.is_standing(m memwarden.memory) returns boolean language sql stable as
  $$ select m.retrieval_visibility = 'server' and memwarden.is_in_force(m) $$;

-- What its owner takes home to recall it there; row-level security has left only the caller's own.
create or replace function memwarden.is_local(m memwarden.memory) returns boolean language sql stable as
  $$ select m.retrieval_visibility = 'client_local_only' and m.owner is not null and memwarden.is_in_force(m) $$;

-- What is in the place that a statement names; episodes and working notes name none, a procedure is named by its topic.
create or replace function memwarden.in_place_of(p_domain uuid, p_owner text, p_type text, p_topic text, p_subject text)
returns setof memwarden.memory language sql stable set search_path = pg_catalog, pg_temp as $$
  select m.* from memwarden.memory m where m.workspace_id = memwarden.current_workspace() and m.domain_id = p_domain
    and m.topic = p_topic and m.topic <> '' and m.subject = p_subject and m.memory_type = p_type
    and (p_subject <> '' or p_type = 'procedural') and p_type not in ('episodic', 'working')
    and m.owner is not distinct from p_owner and memwarden.is_in_force(m) order by m.id desc limit 1
$$;

-- Moves a memory among the past versions. Keys of `p`: as, by, reason (or null), successor (or null).
create or replace function memwarden.retire(p_id uuid, p jsonb) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
  old memwarden.memory;
begin
  delete from memwarden.memory m where m.workspace_id = w and m.id = p_id returning m.* into old;
  if not found then
    return false;
  end if;
  insert into memwarden.memory_version select * from jsonb_populate_record(null::memwarden.memory_version,
    to_jsonb(old) || jsonb_build_object('ended_as', p -> 'as', 'ended_at', now(), 'ended_by', p -> 'by',
      'ended_reason', p -> 'reason', 'successor', p -> 'successor'));
  delete from memwarden.intake i where i.workspace_id = w and i.id = p_id;
  return true;
end $$;

-- Puts the next version of a memory in its place; `p_new` holds the columns that differ. False: it is another by now.
create or replace function memwarden.revise(p_id uuid, p_version integer, p_new jsonb) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
  old memwarden.memory;
begin
  delete from memwarden.memory m where m.workspace_id = w and m.id = p_id and m.version = p_version
    returning m.* into old;
  if not found then
    return false;
  end if;
  insert into memwarden.memory_version select * from jsonb_populate_record(null::memwarden.memory_version,
    to_jsonb(old) || jsonb_build_object('ended_as', 'superseded', 'ended_at', now(),
      'ended_by', p_new -> 'changed_by', 'ended_reason', p_new -> 'change_reason', 'successor', p_id));
  insert into memwarden.memory select * from jsonb_populate_record(null::memwarden.memory,
    to_jsonb(old) || jsonb_build_object('retention', null, 'ends_at', null, 'ends_by', null, 'falls',
      memwarden.falls_after(old.falls, old.confidence, coalesce((p_new ->> 'confidence')::numeric, old.confidence)))
    || p_new || jsonb_build_object('version', old.version + 1, 'since', now()));
  return true;
end $$;

-- A confirmed candidate comes into force. Keys of `p`: id, by, claim (its tombstone's key), entry.
-- Answers confirmed, gone (there is no such candidate) or moved (the memory it would change is another by now).
create or replace function memwarden.confirm(p jsonb) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
  held memwarden.candidate;
  old_id uuid;
  done boolean := true;
begin
  select * into held from memwarden.candidate c
    where c.workspace_id = w and c.id = (p ->> 'id')::uuid and c.expires_at > now();
  if not found then
    return 'gone';
  end if;
  case held.change
  when 'delete' then
    perform from memwarden.memory m where m.workspace_id = w and m.id = held.target and m.version = held.target_version;
    done := found and memwarden.retire(held.target, jsonb_build_object('as', 'revoked', 'by', p -> 'by', 'reason',
      held.reason, 'successor', null));
  when 'edit' then
    done := memwarden.revise(held.target, held.target_version, jsonb_build_object('content', held.content,
      'words', held.words, 'value', held.value, 'vault_vector', held.vault_vector,
      'encryption_state', held.encryption_state,
      'server_embeddings_enabled', held.server_embeddings_enabled,
      'server_content_search_enabled', held.server_content_search_enabled, 'valid_until', held.valid_until,
      'delete_at', held.delete_at, 'source', held.source, 'confidence', held.confidence,
      'confirmed_by', p -> 'by', 'last_confirmed_at', now(), 'decision_id', held.decision_id,
      'changed_by', held.proposed_by, 'change_reason', held.reason));
  else
    select m.id into old_id from memwarden.in_place_of(held.domain_id, held.owner, held.memory_type, held.topic,
      held.subject) m;
    if found then
      perform memwarden.retire(old_id, jsonb_build_object('as', 'superseded', 'by', p -> 'by', 'reason', null,
        'successor', held.id));
    end if;
    insert into memwarden.memory select * from jsonb_populate_record(null::memwarden.memory, to_jsonb(held)
      || jsonb_build_object('confirmed_by', p -> 'by', 'in_force_from', now(), 'version', held.version + 1,
        'status', 'confirmed', 'last_confirmed_at', now(), 'since', now(), 'changed_by', p -> 'by'));
  end case;
  if not done then
    return 'moved';
  end if;
  delete from memwarden.tombstone t where t.workspace_id = w and t.domain_id = held.domain_id
    and t.owner_key = coalesce(held.owner, '') and t.key = decode(p ->> 'claim', 'hex');
  delete from memwarden.candidate c where c.workspace_id = w and c.id = held.id;
  perform memwarden.journal_append(p -> 'entry');
  return 'confirmed';
end $$;

-- Puts other words in the place of those that wait; whoever said yes said it to the old ones.
create or replace function memwarden.reword(p_id uuid, p_new jsonb) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
  held memwarden.candidate;
begin
  delete from memwarden.candidate c where c.workspace_id = w and c.id = p_id returning c.* into held;
  if not found then
    return false;
  end if;
  insert into memwarden.candidate select * from jsonb_populate_record(null::memwarden.candidate,
    to_jsonb(held) || p_new || jsonb_build_object('version', held.version + 1));
  return true;
end $$;

-- A candidate goes, and with it what its intake remembered. Keys of `p`: id, by, claim (null: no tombstone), due (only
-- if it has expired), entry.
create or replace function memwarden.drop_candidate(p jsonb) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  w uuid := memwarden.current_workspace();
  held memwarden.candidate;
begin
  select * into held from memwarden.candidate c
    where c.workspace_id = w and c.id = (p ->> 'id')::uuid and (c.expires_at <= now()) = (p ->> 'due')::boolean;
  if not found then
    return false;
  end if;
  if p ->> 'claim' is not null then
    insert into memwarden.tombstone values (w, held.domain_id, coalesce(held.owner, ''), decode(p ->> 'claim', 'hex'),
      held.id, p ->> 'by', now()) on conflict do nothing;
  end if;
  delete from memwarden.intake i where i.workspace_id = w and i.id = held.id;
  delete from memwarden.candidate c where c.workspace_id = w and c.id = held.id;
  perform memwarden.journal_append(p -> 'entry');
  return true;
end $$;

revoke execute on function memwarden.is_kept(timestamptz, text), memwarden.falls_after(jsonb, numeric, numeric),
  memwarden.is_in_force(memwarden.memory), memwarden.is_standing(memwarden.memory), memwarden.is_local(memwarden.memory),
  memwarden.in_place_of(uuid, text, text, text, text), memwarden.retire(uuid, jsonb),
  memwarden.revise(uuid, integer, jsonb), memwarden.confirm(jsonb), memwarden.reword(uuid, jsonb), memwarden.drop_candidate(jsonb) from public;
grant execute on function memwarden.is_kept(timestamptz, text), memwarden.falls_after(jsonb, numeric, numeric),
  memwarden.is_in_force(memwarden.memory), memwarden.is_standing(memwarden.memory), memwarden.is_local(memwarden.memory),
  memwarden.in_place_of(uuid, text, text, text, text), memwarden.retire(uuid, jsonb),
  memwarden.revise(uuid, integer, jsonb), memwarden.confirm(jsonb), memwarden.reword(uuid, jsonb), memwarden.drop_candidate(jsonb) to mw_app;
grant execute on function memwarden.is_kept(timestamptz, text), memwarden.retire(uuid, jsonb) to mw_retention;
