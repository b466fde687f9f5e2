-- The security envelope: chosen when a memory is proposed, carried by every version of it, changed by none.
-- What is written here is not served by being there: readers use memwarden.is_standing (functions/changes.sql).

alter table memwarden.memory
  add column security_mode text not null default 'standard',
  add column encryption_state text not null default 'plaintext',
  add column retrieval_visibility text not null default 'server',
  add column server_embeddings_enabled boolean not null default true,
  add column server_content_search_enabled boolean not null default true,
  add column vault_semantic_index_opt_in boolean not null default false,
  add column vault_vector real[],
  add column vault_embedder text,
  add constraint envelope_words check (security_mode in ('standard', 'vault')
    and encryption_state in ('plaintext', 'client_ciphertext')
    and retrieval_visibility in ('server', 'client_local_only', 'not_retrievable')),
  -- Vault is what the client sealed, nothing beside it, and never served by the service of its own accord.
  add constraint envelope_vault check ((security_mode = 'vault') = (encryption_state = 'client_ciphertext')
    and (security_mode = 'standard' or retrieval_visibility <> 'server' and value is null
      and content ~ '^mwv1\.[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{23,}$')),
  -- What is not served belongs to somebody, and the service makes nothing of its words.
  add constraint envelope_serving check (retrieval_visibility = 'server' or owner is not null
    and not server_embeddings_enabled and not server_content_search_enabled),
  add constraint envelope_index check (
    vault_semantic_index_opt_in = (vault_vector is not null) and vault_semantic_index_opt_in = (vault_embedder is not null)
    and (not vault_semantic_index_opt_in or security_mode = 'vault' and retrieval_visibility = 'client_local_only'
      and array_ndims(vault_vector) = 1 and cardinality(vault_vector) between 1 and 2048));

alter table memwarden.candidate
  add column security_mode text not null default 'standard',
  add column encryption_state text not null default 'plaintext',
  add column retrieval_visibility text not null default 'server',
  add column server_embeddings_enabled boolean not null default true,
  add column server_content_search_enabled boolean not null default true,
  add column vault_semantic_index_opt_in boolean not null default false,
  add column vault_vector real[],
  add column vault_embedder text,
  add constraint envelope_words check (security_mode in ('standard', 'vault')
    and encryption_state in ('plaintext', 'client_ciphertext')
    and retrieval_visibility in ('server', 'client_local_only', 'not_retrievable')),
  -- Vault is what the client sealed, nothing beside it, and never served by the service of its own accord.
  add constraint envelope_vault check ((security_mode = 'vault') = (encryption_state = 'client_ciphertext')
    and (security_mode = 'standard' or retrieval_visibility <> 'server' and value is null
      and content ~ '^mwv1\.[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{23,}$')),
  -- What is not served belongs to somebody, and the service makes nothing of its words.
  add constraint envelope_serving check (retrieval_visibility = 'server' or owner is not null
    and not server_embeddings_enabled and not server_content_search_enabled),
  add constraint envelope_index check (
    vault_semantic_index_opt_in = (vault_vector is not null) and vault_semantic_index_opt_in = (vault_embedder is not null)
    and (not vault_semantic_index_opt_in or security_mode = 'vault' and retrieval_visibility = 'client_local_only'
      and array_ndims(vault_vector) = 1 and cardinality(vault_vector) between 1 and 2048));

-- Past versions come from memory, which held them to it.
alter table memwarden.memory_version
  add column security_mode text not null default 'standard',
  add column encryption_state text not null default 'plaintext',
  add column retrieval_visibility text not null default 'server',
  add column server_embeddings_enabled boolean not null default true,
  add column server_content_search_enabled boolean not null default true,
  add column vault_semantic_index_opt_in boolean not null default false,
  add column vault_vector real[],
  add column vault_embedder text;
