"""Decides what a reader is shown of a memory."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from memwarden_policy import voices
from memwarden_policy.access import rights
from memwarden_policy.attributes import Facts
from memwarden_policy.model import Caller, Memory, Point, Recall, Shown
from memwarden_policy.rules import Evaluation
from memwarden_policy.ruleset import Ruleset
from memwarden_policy.voices import builtin

DEFAULT: Final = builtin("recall-default", Recall.ALLOW)
ALLOWED: Final = Shown(action=Recall.ALLOW, rules=(DEFAULT,), reason=f"{Recall.ALLOW} by {DEFAULT.address}")


def judge(ruleset: Ruleset, memory: Memory, caller: Caller, now: datetime) -> Shown:
    """Return what this caller is shown of a memory it has access to."""
    return next(judge_all(ruleset, (memory,), caller, now))


def judge_all(ruleset: Ruleset, memories: Iterable[Memory], caller: Caller, now: datetime) -> Iterator[Shown]:
    """Return the same for many memories, in their order."""
    roles = rights(ruleset, caller, now).roles
    for memory in memories:
        facts = Facts(candidate=memory.statement, caller=caller, roles=roles, now=now, memory=memory)
        yield answered(ruleset, Evaluation(facts))


def answered(ruleset: Ruleset, evaluation: Evaluation) -> Shown:
    """Return what the rules on reading say of the memory that is evaluated."""
    chosen = voices.choose(ruleset.layers[Point.RECALL], evaluation)
    if not chosen.all:
        return ALLOWED
    heard = voices.speak(chosen.floor, Point.RECALL, evaluation)
    heard.join(voices.speak(chosen.namespace, Point.RECALL, evaluation))
    heard.join(voices.sources(chosen.all, evaluation, Recall.HIDE))
    if not heard.speaking:
        heard.add(DEFAULT)
    answer = voices.combined(heard)
    return Shown(action=Recall(answer.action), rules=answer.rules, reason=answer.reason)
