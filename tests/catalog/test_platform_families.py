"""Names that several platforms have, and what a spec with such a name is told."""

from __future__ import annotations

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.platform_families import names_reference_design, platform_family


@pytest.mark.parametrize(
    ("name", "some", "none"),
    [
        ("8xH100", "hgx-h100", "azure-nc80adis-h100-v5"),
        ("H100 x 8", "aws-p5-48xlarge", "hgx-h200"),
        ("8x mi300x", "mi300x-ubb8", "hgx-h100"),
        ("4xA100 80GB", "gcp-a2-ultragpu-4g", "hgx-a100"),
        ("NVL72", "gb200-nvl72", "gb200-nvl36x2"),
        ("NC H100 v5", "azure-nc40ads-h100-v5", "azure-nd-h100-v5"),
    ],
)
def test_platforms_of_a_name(name: str, some: str, none: str) -> None:
    found = platform_family(name, Catalog.open()).platforms
    assert some in found
    assert none not in found


@pytest.mark.parametrize("name", ["H100", "rack", "8", "x8", "8x", "2xFoo", "DGX", ""])
def test_a_name_without_a_family_has_no_platforms(name: str) -> None:
    assert platform_family(name, Catalog.open()).platforms == ()


def test_platforms_of_no_cloud_come_first() -> None:
    catalog = Catalog.open()
    clouds = [catalog.get("platform", each).cloud for each in platform_family("8xH100", catalog).platforms]  # type: ignore[attr-defined]
    assert clouds == sorted(clouds)


def test_a_count_without_a_platform_has_its_part() -> None:
    found = platform_family("16xB200", Catalog.open())
    assert (found.platforms, found.number) == ((), 16)
    assert "b200-sxm-180gb" in found.parts


def test_reference_designs_are_told_from_systems() -> None:
    assert names_reference_design("SuperPOD")
    assert names_reference_design("dgx-basepod")
    assert not names_reference_design("dgx-h100-superpod-nvls")
