"""Statements as they are kept: sensitive ones sealed, where the service holds keys."""

import json
from typing import Any

from memwarden_policy.envelope import EncryptionState
from memwarden_policy.model import Candidate
from memwarden_service import rows, sealed
from memwarden_service.picture import Picture, domain_id


def columns(picture: Picture, stated: Candidate) -> dict[str, Any]:
    """Return the columns of a statement. What was sealed and is kept anew without keys is kept in the clear."""
    plain = rows.columns(stated, picture.now)
    if stated.envelope.is_vault:
        return plain
    sealer = sealed.sealer()
    if sealer is None or not stated.is_sensitive:
        return {**plain, "encryption_state": EncryptionState.PLAINTEXT}
    whole = json.dumps({"content": plain["content"], "value": plain["value"]}, ensure_ascii=False)
    return {
        **plain,
        "content": sealer.seal(whole, str(domain_id(picture.workspace_id, stated.domain))),
        "value": None,
        "words": None,
        "encryption_state": EncryptionState.SERVICE_CIPHERTEXT,
        # Words kept for search, or a vector of them, would be the text once more, unsealed.
        "server_embeddings_enabled": False,
        "server_content_search_enabled": False,
    }
