"""The exceptions of the package: each says what was wrong, where, and what to do."""

from __future__ import annotations

__all__ = ["BudgetError", "ContextLabError", "ContextOverflow", "InputError", "MissingDependency"]


class ContextLabError(Exception):
    """The base of every exception that the package raises on purpose."""


class InputError(ContextLabError, ValueError):
    """An argument, a file or a message is not what it has to be."""


class BudgetError(ContextLabError, ValueError):
    """The parts of a request leave no room in its budget.

    Args:
        message: what does not fit, in words; the numbers are added to it.
        budget: the budget, in the unit of the counter.
        parts: what the budget has to hold: name of the part -> its units.

    The three arguments are attributes too, so that a program can read what the text says:

    >>> error = BudgetError("no room for the history", budget=20, parts={"instructions": 17, "reply start": 3})
    >>> print(error)
    no room for the history: budget 20, instructions 17 + reply start 3 = 20, nothing is left
    >>> error.parts["instructions"]
    17
    """

    def __init__(self, message: str, budget: int, parts: dict[str, int]) -> None:
        # All three go to `args`: an exception that crosses a process pool is rebuilt from them.
        super().__init__(message, budget, dict(parts))
        self.message = message
        self.budget = budget
        self.parts = dict(parts)

    @property
    def over(self) -> int:
        """By how many units the parts exceed the budget; 0 or less when they do not."""
        return sum(self.parts.values()) - self.budget

    def __str__(self) -> str:
        text = f"{self.message}: budget {self.budget}"
        if self.parts:
            text += ", " + " + ".join(f"{name} {units}" for name, units in self.parts.items())
            if len(self.parts) > 1:
                text += f" = {sum(self.parts.values())}"
        if self.over > 0:
            return f"{text}, {self.over} over"
        return f"{text}, nothing is left" if self.over == 0 else f"{text}, {-self.over} left"


class ContextOverflow(BudgetError):
    """The part that must be sent does not fit, whatever leaves."""


class MissingDependency(ContextLabError, ImportError):
    """A package that this feature needs is not installed, or is a version that it cannot use."""
