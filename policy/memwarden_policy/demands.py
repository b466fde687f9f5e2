"""What must happen before something that waits comes into force: who says yes, how many, until when, asked what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, Self

from memwarden_policy import bounds

# What nobody answers for this long expires, unless a rule says sooner or later.
EXPIRES_AFTER_DEFAULT: Final = timedelta(days=30)


class By(StrEnum):
    """Who may say yes: the person it belongs to or is about, whoever holds a role, an Admin of the domain."""

    OWNER = "Owner"
    ROLE = "Role"
    ADMIN = "Admin"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Approver:
    """One of those whose yes is needed."""

    kind: By
    role: str = ""  # "": no Role.

    @property
    def address(self) -> str:
        """The approver in one word, such as `Admin` or `Role:support-lead`."""
        return f"{self.kind}:{self.role}" if self.role else self.kind.value

    @property
    def shown(self) -> str:
        """The approver in words."""
        words = {
            By.OWNER: "its owner",
            By.ADMIN: "an Admin of the domain",
            By.ROLE: f"a holder of the role {self.role}",
        }
        return words[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What one rule demands of a confirmation."""

    by: Approver | None = None  # None: whoever may confirm without any rule.
    four_eyes: bool = False
    expires_after: timedelta | None = None  # None: the rule does not say.
    question: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What all rules that spoke demand together. Each approver in `by` is met by one of the people who say yes."""

    by: tuple[Approver, ...] = ()  # Empty: an Admin of the domain, or the owner.
    people: int = 1
    expires_after: timedelta = EXPIRES_AFTER_DEFAULT
    questions: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return a form for a database; durations in seconds."""
        return {
            "by": [{"kind": each.kind.value, "role": each.role} for each in self.by],
            "people": self.people,
            "expires_after": int(self.expires_after.total_seconds()),
            "questions": list(self.questions),
        }

    @classmethod
    def of_json(cls, form: Mapping[str, Any]) -> Self:
        """Read what `as_json` wrote."""
        return cls(
            by=tuple(Approver(kind=By(each["kind"]), role=each["role"]) for each in form["by"]),
            people=form["people"],
            expires_after=timedelta(seconds=form["expires_after"]),
            questions=tuple(form["questions"]),
        )


def joined(demands: Iterable[Demand]) -> Confirmation:
    """Return what fulfils every demand: all approvers, the most people, the shortest wait, every question."""
    held = tuple(demands)
    waits = [each.expires_after for each in held if each.expires_after is not None]
    questions = dict.fromkeys(each.question for each in held if each.question)
    return Confirmation(
        by=tuple(sorted({each.by for each in held if each.by is not None})),
        people=2 if any(each.four_eyes for each in held) else 1,
        expires_after=min(waits, default=EXPIRES_AFTER_DEFAULT),
        questions=tuple(questions)[: bounds.QUESTIONS_PER_DECISION_MAX],
    )
