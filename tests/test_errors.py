import copy
import pickle

import pytest

from contextlab.errors import BudgetError, ContextLabError, ContextOverflow, InputError, MissingDependency


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (InputError, ValueError),
        (BudgetError, ValueError),
        (ContextOverflow, BudgetError),
        (MissingDependency, ImportError),
    ],
)
def test_each_error_is_one_of_the_package_and_a_known_kind(error, builtin):
    assert issubclass(error, ContextLabError)
    assert issubclass(error, builtin)


@pytest.mark.parametrize(
    ("budget", "parts", "ends"),
    [
        (10, {"instructions": 17, "reply start": 3}, "budget 10, instructions 17 + reply start 3 = 20, 10 over"),
        (
            20,
            {"instructions": 17, "reply start": 3},
            "budget 20, instructions 17 + reply start 3 = 20, nothing is left",
        ),
        (25, {"instructions": 17, "reply start": 3}, "budget 25, instructions 17 + reply start 3 = 20, 5 left"),
        (16, {"instructions": 17}, "budget 16, instructions 17, 1 over"),
        (0, {}, "budget 0, nothing is left"),
        (-1, {}, "budget -1, 1 over"),
    ],
)
def test_a_budget_error_says_the_sum_in_words_and_carries_it_in_numbers(budget, parts, ends):
    error = BudgetError("no room", budget, parts)
    assert str(error) == f"no room: {ends}"
    assert (error.budget, error.parts) == (budget, parts)
    assert error.over == sum(parts.values()) - budget


def test_the_parts_of_a_budget_error_are_its_own():
    parts = {"note": 12}
    error = BudgetError("no room", 10, parts)
    parts["note"] = 0
    assert error.parts == {"note": 12}


@pytest.mark.parametrize(
    "error", [BudgetError("no room", 20, {"note": 30}), ContextOverflow("no room", 20, {"note": 30})]
)
def test_a_budget_error_comes_back_whole_from_another_process(error):
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert (str(twin), twin.budget, twin.parts) == (str(error), 20, {"note": 30})
