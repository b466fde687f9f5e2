"""Reads who is asked about on the command line."""

from memwarden_policy.model import ActorKind, Caller

FORM = "serviceAccount:NAMESPACE/NAME, user:NAME or apiKey:NAME"


class UnknownCallerError(Exception):
    """A text that names nobody."""


def read(text: str, on_behalf_of: str | None, groups: tuple[str, ...]) -> Caller:
    """Return the caller that a text such as `serviceAccount:support/agent` names.

    Raises:
        UnknownCallerError: the text has another form.
    """
    kind, _, name = text.partition(":")
    namespace, _, account = name.partition("/")
    if kind == "serviceAccount" and namespace and account:
        return Caller.service_account(namespace, account, principal=on_behalf_of)
    if kind == "user" and name:
        key, held = f"{name}-key", frozenset(groups)
        return Caller(actor_kind=ActorKind.API_KEY, actor_name=key, principal=name, is_person=True, groups=held)
    if kind == "apiKey" and name:
        return Caller(actor_kind=ActorKind.API_KEY, actor_name=name, principal=on_behalf_of, groups=frozenset(groups))
    raise UnknownCallerError(f"{text!r} is not {FORM}")


def home_of(caller: Caller) -> str | None:
    """Return the namespace of a ServiceAccount; None: the caller has none of its own."""
    return caller.actor_name.partition("/")[0] if caller.actor_kind is ActorKind.SERVICE_ACCOUNT else None
