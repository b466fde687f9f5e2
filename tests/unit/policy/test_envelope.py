"""Envelopes: what is asked for is completed, and what cannot be is said."""

from hypothesis import given
from hypothesis import strategies as st

from memwarden_policy.envelope import SecurityMode, Visibility, Wanted, completed, faults, is_sealed, unit

SEALED = "mwv1.k1." + "A" * 16 + "." + "A" * 32
wishes = st.builds(
    Wanted,
    security_mode=st.sampled_from(SecurityMode),
    retrieval_visibility=st.none() | st.sampled_from(Visibility),
    server_embeddings_enabled=st.none() | st.booleans(),
    server_content_search_enabled=st.none() | st.booleans(),
    vault_semantic_index_opt_in=st.booleans(),
    vector=st.lists(st.floats(-1e6, 1e6), max_size=4),
    embedder=st.sampled_from(["", "e"]),
)


@given(wishes, st.sampled_from(["Clear.", SEALED]), st.booleans(), st.booleans())
def test_what_has_no_fault_keeps_every_promise(wanted, content, has_value, is_private):
    held = completed(wanted)
    if faults(held, content=content, has_value=has_value, is_private=is_private):
        return
    served = held.retrieval_visibility is Visibility.SERVER
    assert served or is_private
    assert not held.is_vault or (is_sealed(content) and not served and not has_value)
    assert served or not (held.server_embeddings_enabled or held.server_content_search_enabled)
    assert bool(held.vault_vector) == held.vault_semantic_index_opt_in <= held.is_vault


@given(st.sampled_from(SecurityMode), st.none() | st.sampled_from(Visibility))
def test_what_is_left_out_is_filled_in_without_a_fault(mode, visibility):
    if mode is SecurityMode.VAULT and visibility is Visibility.SERVER:
        return
    held = completed(Wanted(mode, visibility))
    content = SEALED if held.is_vault else "Clear."
    assert faults(held, content=content, has_value=False, is_private=True) == ()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8))
def test_a_vector_is_of_length_one_or_none(vector):
    made = unit(vector)
    assert bool(made) == any(vector)
    assert not made or abs(sum(number * number for number in made) - 1) < 1e-5
    assert unit(made) == made or max(abs(a - b) for a, b in zip(unit(made), made, strict=True)) < 1e-6


@given(st.text())
def test_nothing_a_person_writes_looks_sealed(text):
    assert not is_sealed(text)
