-- More of a statement, what its confirmation needs, and what became of it.

alter table memwarden.policy_object drop constraint policy_object_kind_check,
  add constraint policy_object_kind_check
    check (kind in ('MemoryPolicy', 'ClusterMemoryPolicy', 'MemoryAccessGrant', 'MemoryDomain'));

-- `detail` holds what the decision asks of a confirmation and what it found in the content.
alter table memwarden.decision
  add column point text not null default 'admission' check (point in ('admission', 'update', 'delete')),
  add column detail jsonb not null default '{}',
  drop constraint decision_action_check,
  add constraint decision_action_check
    check (action in ('Accept', 'Allow', 'RequireConfirmation', 'Quarantine', 'Reject'));

-- One row is one version: a change moves it into memory_version and puts the next one in its place.
alter table memwarden.memory
  add column subject text not null default '',
  add column value jsonb,
  add column reason text not null default '',
  add column valid_until timestamptz,
  add column status text not null default 'confirmed'
    check (status in ('confirmed', 'needs_verification', 'deactivated')),
  add column last_confirmed_at timestamptz,
  add column since timestamptz not null default now(),
  add column changed_by text,
  add column change_reason text;
-- A topic and a subject name one place in a domain: what comes there takes the place of what was there.
create index memory_by_slot on memwarden.memory (workspace_id, domain_id, topic, subject) where topic <> '';

create table memwarden.memory_version (
  like memwarden.memory,
  ended_as text not null check (ended_as in ('superseded', 'revoked', 'expired')),
  ended_at timestamptz not null,
  ended_by text not null,
  ended_reason text,
  successor uuid,
  primary key (workspace_id, id, version)
);

-- A change that waits is a candidate too: `change` says which, `target` of which memory, at which version.
alter table memwarden.candidate
  add column subject text not null default '',
  add column value jsonb,
  add column reason text not null default '',
  add column valid_until timestamptz,
  add column confirmation jsonb,
  add column confirm_roles text[] not null default '{}',
  add column expires_at timestamptz not null default now() + interval '30 days',
  add column change text check (change in ('edit', 'delete')),
  add column target uuid,
  add column target_version integer,
  add constraint candidate_change_whole check ((change is null) = (target is null)
    and (change is null) = (target_version is null));
create index candidate_by_expiry on memwarden.candidate (expires_at);
create index candidate_by_target on memwarden.candidate (workspace_id, target) where target is not null;

alter table memwarden.intake add column expires_at timestamptz;

-- Who said yes so far to what needs more than one.
create table memwarden.approval (
  workspace_id uuid not null,
  candidate_id uuid not null,
  person text not null,
  actor text not null,
  roles text[] not null,
  is_admin boolean not null,
  at timestamptz not null,
  primary key (workspace_id, candidate_id, person),
  foreign key (workspace_id, candidate_id) references memwarden.candidate (workspace_id, id) on delete cascade
);

-- What a person rejected, by a keyed hash of the claim: it does not come back next session.
create table memwarden.tombstone (
  workspace_id uuid not null,
  domain_id uuid not null,
  owner_key text not null,
  key bytea not null check (octet_length(key) = 32),
  id uuid not null,
  rejected_by text not null,
  rejected_at timestamptz not null,
  primary key (workspace_id, domain_id, owner_key, key)
);

create table memwarden.feedback (
  workspace_id uuid not null,
  memory_id uuid not null,
  person text not null,
  feedback_id text not null check (char_length(feedback_id) between 1 and 128),
  domain_id uuid not null,
  owner text,
  kind text not null check (kind in ('confirm', 'reject', 'edit', 'delete')),
  request bytea not null check (octet_length(request) = 32),
  reason text,
  actor text not null,
  answer jsonb not null,
  at timestamptz not null,
  primary key (workspace_id, memory_id, person, feedback_id)
);
