"""The outcome of tests of specs, as text and JUnit."""

from __future__ import annotations

from datetime import date

from clusterspec.report import PLAIN, TextStyle, plain_line, wrapped_lines
from clusterspec.report.findings_machines import xml_attribute, xml_text
from clusterspec.results.expectations import TestedReport
from clusterspec.units import plural


def tests_as_text(report: TestedReport, style: TextStyle = PLAIN) -> str:
    """The failed tests with their failed expectations, and the count of all tests."""
    lines: list[str] = []
    for one in report.tests:
        if not one.missed:
            continue
        lines.append(plain_line(f"{one.file}:{one.line}: {one.name}"))
        for missed in one.missed:
            lines += wrapped_lines(plain_line(f"{missed.expect}: {missed.why}"), style.measure, "  ", "    ")
        lines.append("")
    passed = len(report.tests) - report.failed_tests
    lines.append(f"{plural(passed, 'test')} passed, {report.failed_tests} failed")
    return "\n".join(lines) + "\n"


def tests_as_junit(report: TestedReport, day: date) -> str:
    """One test case per test, in one suite."""
    cases = []
    for one in report.tests:
        case = f'    <testcase classname={xml_attribute(one.file)} name={xml_attribute(one.name)} time="0"'
        why = "\n".join(xml_text(f"{missed.expect}: {missed.why}") for missed in one.missed)
        hold = "does not hold" if len(one.missed) == 1 else "do not hold"
        message = xml_attribute(f"{len(one.missed)} of {plural(one.expectations, 'expectation')} {hold}")
        failure = f'><failure type="expectation" message={message}>{why}</failure></testcase>'
        cases.append(f"{case}{failure if one.missed else '/>'}")
    counts = f'tests="{len(report.tests)}" failures="{report.failed_tests}" errors="0"'
    where = f'package="clusterspec" id="0" timestamp="{day}T00:00:00" hostname="localhost" time="0"'
    suite = f'  <testsuite name="clusterspec test" {counts} {where}>'
    body = [suite, "    <properties/>", *cases, "    <system-out/>", "    <system-err/>", "  </testsuite>"]
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', "<testsuites>", *body, "</testsuites>"]) + "\n"
