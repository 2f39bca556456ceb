"""Recognition of YAML files of other programs by their top-level keys."""

from __future__ import annotations

from typing import Any

from clusterspec.document.validation_error import shown

_MARKS = (
    ({"apiVersion", "kind"}, "a Kubernetes manifest"),
    ({"apiVersion", "name", "version"}, "a Helm chart"),
    ({"services"}, "a Docker Compose file"),
    ({"on", "jobs"}, "a GitHub Actions workflow"),
    ({"stages", "script"}, "a GitLab pipeline"),
    ({"AWSTemplateFormatVersion", "Resources"}, "a CloudFormation template"),
    ({"repos"}, "a configuration of pre-commit"),
    ({"openapi", "paths"}, "an OpenAPI document"),
)


def kind_of_other_file(value: Any) -> str:
    """The kind of another program's file, for use in a sentence; empty if the document may be a spec.

    >>> kind_of_other_file({"apiVersion": "apps/v1", "kind": "Deployment"})
    'a Kubernetes manifest (kind `Deployment`)'
    >>> kind_of_other_file({"clusterspec": 1, "kind": "x"})
    ''
    """
    if not isinstance(value, dict) or any(key.lower() == "clusterspec" for key in value):
        return ""
    for keys, what in _MARKS:
        if keys <= value.keys():
            kind = f" (kind `{shown(value['kind'])}`)" if isinstance(value.get("kind"), str) else ""
            return what + kind
    return ""
