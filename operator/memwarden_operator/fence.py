"""The fence that goes with every order to a service: higher with each operator and each order."""

from dataclasses import dataclass


@dataclass(slots=True)
class Fence:
    """The term is the Lease's resourceVersion when it was taken, the counter rises with every order."""

    term: int
    counter: int = 0

    def next(self) -> tuple[int, int]:
        """Return the fence of one order."""
        self.counter += 1
        return self.term, self.counter

    def raise_to(self, term: int) -> bool:
        """Take a later version of the Lease that is still ours; False: there is none that is higher."""
        if term <= self.term:
            return False
        self.term = term
        return True
