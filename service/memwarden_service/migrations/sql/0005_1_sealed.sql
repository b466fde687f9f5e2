-- What the service seals at rest: longer than its words, bound to be sensitive, and nothing is made of it beside.

alter table memwarden.memory
  drop constraint memory_content_check,
  drop constraint envelope_words,
  add constraint envelope_words check (security_mode in ('standard', 'vault')
    and encryption_state in ('plaintext', 'client_ciphertext', 'service_ciphertext')
    and retrieval_visibility in ('server', 'client_local_only', 'not_retrievable')),
  add constraint envelope_sealed check (encryption_state <> 'service_ciphertext' or is_sensitive and value is null
    and content ~ '^mws1\.[1-9][0-9]*\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$'
    and not server_embeddings_enabled and not server_content_search_enabled),
  add constraint content_length check (char_length(content) between 1
    and case when encryption_state = 'service_ciphertext' then 262144 else 16384 end);

alter table memwarden.candidate
  drop constraint candidate_content_check,
  drop constraint envelope_words,
  add constraint envelope_words check (security_mode in ('standard', 'vault')
    and encryption_state in ('plaintext', 'client_ciphertext', 'service_ciphertext')
    and retrieval_visibility in ('server', 'client_local_only', 'not_retrievable')),
  add constraint envelope_sealed check (encryption_state <> 'service_ciphertext' or is_sensitive and value is null
    and content ~ '^mws1\.[1-9][0-9]*\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$'
    and not server_embeddings_enabled and not server_content_search_enabled),
  add constraint content_length check (char_length(content) between 1
    and case when encryption_state = 'service_ciphertext' then 262144 else 16384 end);

-- What an owner's own vector is compared with.
create index memory_by_vault_vector on memwarden.memory (workspace_id, owner, id desc) where vault_semantic_index_opt_in;
