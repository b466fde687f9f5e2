-- What search keeps of a memory's words, and where each word is found.

alter table memwarden.memory
  add column session text,  -- The conversation or run it was written in; null: none.
  add column position integer,  -- In its session, in the order of writing.
  add column words jsonb,  -- What was read out of its content; null: nothing, or not yet.
  add constraint words_allowed check (words is null or server_content_search_enabled);
alter table memwarden.candidate
  add column session text,
  add column words jsonb,
  add constraint words_allowed check (words is null or server_content_search_enabled);
alter table memwarden.memory_version add column session text;

create index memory_by_session on memwarden.memory (workspace_id, session, position) where session is not null;
create index memory_unread on memwarden.memory (workspace_id, id) where words is null and server_content_search_enabled;

-- Follows its memory by a trigger, in the same statement: a foreign key would look up each word once more.
create table memwarden.posting (
  workspace_id uuid not null,
  lexeme text collate "C" not null,
  memory_id uuid not null,
  domain_id uuid not null,
  owner text,
  count integer not null,
  length integer not null,
  primary key (workspace_id, lexeme, memory_id)
);
-- How much there is to search, by who may see it.
create table memwarden.shelf (
  workspace_id uuid not null references memwarden.workspace (id),
  domain_id uuid not null,
  owner_key text not null,
  memories bigint not null,
  words bigint not null,
  primary key (workspace_id, domain_id, owner_key)
);
