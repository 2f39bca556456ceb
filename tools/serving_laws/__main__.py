"""``python -m tools.serving_laws [--plans 200] [--seed 1] [--simulate]``: prints what breaks a law, and how often."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter

from tools.serving_laws.laws import AGREEMENT, broken_laws, disagreements
from tools.serving_laws.plans import DrawnPlan, drawn_plans


def _arguments() -> Namespace:
    parser = ArgumentParser(prog="tools.serving_laws", description=__doc__)
    parser.add_argument("--plans", type=int, default=200, help="number of plans that are drawn")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    parser.add_argument("--simulate", action="store_true", help="compare the formulas with `simulate`, too")
    return parser.parse_args()


def _breaches(plan: DrawnPlan, *, simulate: bool) -> list[tuple[str, float]]:
    """The broken laws of a plan, and the comparisons that differ by more than `AGREEMENT`."""
    found = list(broken_laws(plan))
    if simulate:
        found += [(name, error) for name, error in disagreements(plan) if abs(error) > AGREEMENT]
    return found


def main() -> int:
    """Print each breach with its plan, then their number by law; 1 if there is any."""
    asked, counted = _arguments(), Counter[str]()
    for place, plan in enumerate(drawn_plans(asked.plans, asked.seed)):
        for name, size in _breaches(plan, simulate=asked.simulate):
            counted[name] += 1
            print(f"{place}: {plan.name}: {name} by {size:+.1%}", flush=True)
    for name, number in sorted(counted.items()):
        print(f"{number:4d} {name}")
    print(f"{sum(counted.values())} breaches in {asked.plans} plans")
    return 1 if counted else 0


if __name__ == "__main__":
    raise SystemExit(main())
