-- Run as mw_journal: what ends memories writes it in the journal.
grant execute on function memwarden.journal_lock(), memwarden.journal_append(jsonb) to mw_retention;
