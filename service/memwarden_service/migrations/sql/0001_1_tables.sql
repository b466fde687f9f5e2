-- The tables. Every key of a tenant's table begins with workspace_id; text and CHECK, because enum equality is not leakproof.

create table memwarden.workspace (
  id uuid primary key,
  name text not null check (char_length(name) between 1 and 63),
  created_at timestamptz not null default now(),
  closed_at timestamptz
);
create unique index workspace_open_name on memwarden.workspace (name) where closed_at is null;

-- The term of the operator that spoke last, for the whole store: a late one is refused everywhere.
create table memwarden.fence (
  only_row boolean primary key default true check (only_row),
  term bigint not null
);
insert into memwarden.fence (term) values (0);

create table memwarden.ruleset (
  workspace_id uuid primary key references memwarden.workspace (id),
  revision bigint not null default 0,
  digest text not null,
  store jsonb not null check (not jsonb_path_exists(store, '$.**{66}')),
  applied_at timestamptz not null default now(),
  moved_in bigint not null default 0,
  fence_term bigint not null default 0,
  fence_counter bigint not null default 0,
  fence_body bytea not null default ''
);

create table memwarden.policy_object (
  workspace_id uuid not null references memwarden.workspace (id),
  kind text not null check (kind in ('MemoryPolicy', 'ClusterMemoryPolicy', 'MemoryAccessGrant')),
  namespace text not null,
  name text not null check (char_length(name) between 1 and 253),
  uid text not null,
  spec jsonb,
  generation bigint,
  digest text,
  revision bigint,
  offered_uid text not null,
  offered_generation bigint not null,
  offered_digest text not null,
  accepted boolean not null,
  problems jsonb not null default '[]',
  notes jsonb not null default '[]',
  primary key (workspace_id, kind, namespace, name),
  check ((spec is null) = (digest is null) and (spec is null) = (revision is null)),
  -- What nests deeper than a request may cannot be read back.
  check (not jsonb_path_exists(jsonb_build_array(spec, problems, notes), '$.**{66}'))
);

create table memwarden.domain (
  workspace_id uuid not null references memwarden.workspace (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 253),
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, name)
);

create table memwarden.decision (
  workspace_id uuid not null,
  id uuid not null,
  -- No foreign key to domain: a refused proposal does not make its domain known.
  domain_id uuid not null,
  owner text,
  actor text not null,
  principal text,
  action text not null check (action in ('Accept', 'RequireConfirmation', 'Quarantine', 'Reject')),
  rules jsonb not null,
  reason text not null,
  revision bigint not null,
  content_key bytea not null check (octet_length(content_key) = 32),
  at timestamptz not null,
  primary key (workspace_id, id)
);

-- Statements in force.
create table memwarden.memory (
  workspace_id uuid not null,
  id uuid not null,
  domain_id uuid not null,
  owner text,
  about text,
  topic text not null,
  memory_type text not null check (memory_type in ('semantic', 'episodic', 'procedural', 'working', 'identity')),
  category text not null,
  content text not null check (char_length(content) between 1 and 16384),
  source text not null check (source in ('user_stated', 'user_confirmed', 'agent_extracted', 'reasoning', 'tool_result',
    'retrieval', 'imported', 'system_rule')),
  source_uri text,
  confidence numeric(4, 3) not null check (confidence between 0 and 1),
  is_sensitive boolean not null,
  tags text[] not null,
  observed_at timestamptz not null,
  proposed_by text not null,
  proposed_for text,
  proposed_by_person boolean not null,
  proposed_at timestamptz not null,
  decision_id uuid not null,
  version integer not null,
  confirmed_by text,
  in_force_from timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, domain_id) references memwarden.domain (workspace_id, id),
  foreign key (workspace_id, decision_id) references memwarden.decision (workspace_id, id)
);
create index memory_by_domain on memwarden.memory (workspace_id, domain_id, id desc);

-- What waits for a person, under the id that the memory will have.
create table memwarden.candidate (
  workspace_id uuid not null,
  id uuid not null,
  domain_id uuid not null,
  owner text,
  about text,
  topic text not null,
  memory_type text not null check (memory_type in ('semantic', 'episodic', 'procedural', 'working', 'identity')),
  category text not null,
  content text not null check (char_length(content) between 1 and 16384),
  source text not null check (source in ('user_stated', 'user_confirmed', 'agent_extracted', 'reasoning', 'tool_result',
    'retrieval', 'imported', 'system_rule')),
  source_uri text,
  confidence numeric(4, 3) not null check (confidence between 0 and 1),
  is_sensitive boolean not null,
  tags text[] not null,
  observed_at timestamptz not null,
  proposed_by text not null,
  proposed_for text,
  proposed_by_person boolean not null,
  proposed_at timestamptz not null,
  decision_id uuid not null,
  version integer not null,
  state text not null check (state in ('pending', 'quarantined')),
  proposed_by_maker text,  -- The person who made the key that it was proposed with.
  primary key (workspace_id, id),
  foreign key (workspace_id, domain_id) references memwarden.domain (workspace_id, id),
  foreign key (workspace_id, decision_id) references memwarden.decision (workspace_id, id)
);
create index candidate_by_domain on memwarden.candidate (workspace_id, domain_id, id desc);

-- What was taken in already: by source event, and by keyed hash of the content. One row a key; a refusal leaves none.
create table memwarden.intake (
  workspace_id uuid not null,
  domain_id uuid not null,
  owner_key text not null,
  scope text not null check (scope in ('event', 'content')),
  key bytea not null check (octet_length(key) = 32),
  id uuid not null,
  decision_id uuid not null,
  -- No foreign keys: each would be looked up again at every write, and the row is made beside those it names.
  primary key (workspace_id, domain_id, owner_key, scope, key)
);
create index intake_by_id on memwarden.intake (workspace_id, id);

-- `entry` is the exact text that was hashed: jsonb prints the same only within one major version.
create table memwarden.journal (
  workspace_id uuid not null,  -- Kept right by journal_head, without which nothing is appended.
  seq bigint not null check (seq > 0),
  entry text not null,
  prev bytea not null check (octet_length(prev) = 32),
  hash bytea not null check (octet_length(hash) = 32),
  primary key (workspace_id, seq)
);

create table memwarden.journal_head (
  workspace_id uuid primary key references memwarden.workspace (id),
  seq bigint not null,
  hash bytea not null check (octet_length(hash) = 32)
);

create table memwarden.api_key (
  workspace_id uuid not null references memwarden.workspace (id),
  id text not null check (char_length(id) = 10),
  name text not null check (char_length(name) between 1 and 253),
  person text,
  hash bytea not null check (octet_length(hash) = 32),
  created_at timestamptz not null default now(),
  created_by text not null,
  maker text,  -- The person who made it for an agent.
  expires_at timestamptz,
  primary key (workspace_id, id),
  unique (workspace_id, name)
);
-- Not unique: a unique index across workspaces would tell one of them about another's key.
create index api_key_by_id on memwarden.api_key (id);

create table memwarden.idempotency (
  workspace_id uuid not null references memwarden.workspace (id),
  key bytea not null check (octet_length(key) = 32),
  request bytea not null check (octet_length(request) = 32),
  answer jsonb not null,
  expires_at timestamptz not null,
  primary key (workspace_id, key)
);
create index idempotency_by_expiry on memwarden.idempotency (workspace_id, expires_at);
