"""The outcome of tests of specs (``clusterspec test``)."""

from __future__ import annotations

from clusterspec.records import dataclass
from clusterspec.results import Input, Json, Result, Tool, common_fields, result_repr


@dataclass(frozen=True)
class FailedExpectation:
    """A failed expectation with the actual value."""

    expect: str
    why: str


@dataclass(frozen=True)
class TestOutcome:
    """One test: the file and line of its name, the spec, and the expectations that do not hold."""

    file: str
    line: int
    name: str
    spec: str
    expectations: int
    missed: tuple[FailedExpectation, ...]

    def to_json(self) -> Json:
        return {
            "file": self.file,
            "line": self.line,
            "name": self.name,
            "spec": self.spec,
            "status": "fail" if self.missed else "pass",
            "missed": [{"expect": one.expect, "why": one.why} for one in self.missed],
        }


@dataclass(frozen=True)
class TestedReport(Result):
    """The outcome of all tests of a call."""

    tool: Tool
    inputs: tuple[Input, ...]
    tests: tuple[TestOutcome, ...]

    __repr__ = result_repr

    @property
    def failed_tests(self) -> int:
        """The number of tests that fail."""
        return sum(bool(one.missed) for one in self.tests)

    def to_json(self) -> Json:
        return common_fields(self.tool, self.inputs[0]) | {
            "inputs": [one.to_json() for one in self.inputs],
            "tests": [one.to_json() for one in self.tests],
            "summary": {"pass": len(self.tests) - self.failed_tests, "fail": self.failed_tests},
        }
