-- Two workspaces with a row of each kind: two domains, and rows of nobody, of alice and of bob.
insert into memwarden.workspace (id, name) select id, name from (values (%(a)s::uuid, 'a'), (%(b)s::uuid, 'b')) w (id, name);
insert into memwarden.ruleset (workspace_id, digest, store) select id, 'sha256:seed', '{}' from memwarden.workspace;
insert into memwarden.policy_object (workspace_id, kind, namespace, name, uid, offered_uid, offered_generation, offered_digest, accepted)
  select id, 'MemoryPolicy', name, 'p', 'u', 'u', 1, 'd', false from memwarden.workspace;
insert into memwarden.domain (workspace_id, id, name) select w.id, d.id, d.id::text from memwarden.workspace w,
  (values (%(open)s::uuid), (%(closed)s::uuid)) d (id);
insert into memwarden.decision (workspace_id, id, domain_id, owner, actor, action, rules, reason, revision, content_key, at)
  select w.id, md5(w.name || d.id || coalesce(o.owner, ''))::uuid, d.id, o.owner, 'x', 'Accept', '[]', '', 1, sha256('x'), now()
  from memwarden.workspace w,
  (values (%(open)s::uuid), (%(closed)s::uuid)) d (id),
  (values (null), ('alice'), ('bob')) o (owner);
insert into memwarden.memory (workspace_id, id, domain_id, owner, topic, memory_type, category, content, source, confidence,
    is_sensitive, tags, observed_at, proposed_by, proposed_for, proposed_by_person, proposed_at, decision_id, version, in_force_from)
  select d.workspace_id, d.id, d.domain_id, d.owner, '', 'semantic', '', 'text', 'imported', 0.5, false, '{}', now(), 'x', d.owner,
    false, now(), d.id, 1, now() from memwarden.decision d;
insert into memwarden.memory_version select v.* from memwarden.memory m, jsonb_populate_record(
  null::memwarden.memory_version, to_jsonb(m) || jsonb_build_object('ended_as', 'superseded', 'ended_at', now(),
    'ended_by', 'x', 'successor', m.id)) v;
insert into memwarden.person_setting select w.id, person, true, 1
  from memwarden.workspace w, unnest('{alice,bob}'::text[]) person;
insert into memwarden.reckoning select w.id, 0, '', null from memwarden.workspace w;
insert into memwarden.candidate (workspace_id, id, domain_id, owner, topic, memory_type, category, content, source, confidence,
    is_sensitive, tags, observed_at, proposed_by, proposed_for, proposed_by_person, proposed_at, decision_id, version, state)
  select d.workspace_id, d.id, d.domain_id, d.owner, '', 'semantic', '', 'text', 'imported', 0.5, false, '{}', now(), 'x', d.owner,
    false, now(), d.id, 1, 'pending' from memwarden.decision d;
insert into memwarden.approval select c.workspace_id, c.id, 'carol', 'x', '{}', true, now() from memwarden.candidate c;
insert into memwarden.tombstone select d.workspace_id, d.domain_id, coalesce(d.owner, ''), sha256(d.id::text::bytea), d.id, 'x', now()
  from memwarden.decision d;
insert into memwarden.feedback (workspace_id, memory_id, person, feedback_id, domain_id, owner, kind, request, actor, answer, at)
  select d.workspace_id, d.id, 'x', '1', d.domain_id, d.owner, 'confirm', sha256('x'), 'x', '{}', now() from memwarden.decision d;
insert into memwarden.intake select d.workspace_id, d.domain_id, coalesce(d.owner, ''), 'content', sha256(d.id::text::bytea), d.id, d.id
  from memwarden.decision d;
insert into memwarden.journal_head select id, 1, sha256('x') from memwarden.workspace;
insert into memwarden.journal select id, 1, '[]', sha256('x'), sha256('x') from memwarden.workspace;
insert into memwarden.api_key (workspace_id, id, name, hash, created_by)
  select id, 'aaaaaaaaa' || name, 'k', sha256('x'), 'x' from memwarden.workspace;
insert into memwarden.idempotency select id, sha256('x'), sha256('x'), '{}', now() + interval '1 day' from memwarden.workspace;
