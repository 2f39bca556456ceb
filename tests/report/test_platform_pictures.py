"""Nodes, tori, domains and paths of the platforms of the catalog are drawn without a cut or covered text."""

from __future__ import annotations

import json
import re
from itertools import combinations

from clusterspec import studies
from clusterspec.analysis.paths import pod_topology
from clusterspec.report.charts import svg
from clusterspec.report.paper.blocks import Picture
from clusterspec.report.paper.drawings import cluster_pictures
from clusterspec.report.paper.link_drawings import path_picture
from tests.effort import each, sampled
from tests.report.test_charts import spans
from tests.settings import SETTINGS

PLATFORMS = SETTINGS.catalog.ids("platform")


def pictures(platform: str) -> list[Picture]:
    """The drawings of two nodes, or of a whole domain, without a fabric."""
    entry = SETTINGS.catalog.platform(platform)
    nodes = max(2, (entry.domain or 1) // max(1, entry.accelerators_per_node or 1))
    text = json.dumps({"clusterspec": 1, "cluster": {"platform": platform, "nodes": nodes}})
    cluster = studies.study_text(text, SETTINGS).design.cluster
    assert cluster is not None
    pod = pod_topology(cluster, None)
    drawn = [*cluster_pictures(cluster), path_picture(pod)]
    return [picture for picture in drawn if picture is not None]


def walks(platform: str) -> list[str]:
    """The paths that the live figure shows."""
    found = [json.loads(picture.data)["walks"] for picture in pictures(platform) if picture.data]
    return [way["svg"] for classes in found for ways in classes for way in ways]


@each("platform", sampled(PLATFORMS, 60))
def test_no_text_of_a_machine_is_cut_or_covered(platform: str) -> None:
    found = pictures(platform)
    assert found
    for drawn in [*(picture.svg for picture in found), *walks(platform)]:
        texts = spans(drawn)
        assert all(start >= -0.5 and end <= svg.WIDTH + 0.5 for start, end, _, _ in texts), texts
        for one, other in combinations(texts, 2):
            assert one[1] <= other[0] or other[1] <= one[0] or abs(one[2] - other[2]) >= 9, (one, other)
        assert re.search(r"<title>[^<]+</title>", drawn), "readers who do not see it are told what it shows"
