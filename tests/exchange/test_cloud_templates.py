"""Machines of templates of CloudFormation, clusters of eksctl, and requests of AWS Batch."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

TEMPLATE = """\
    AWSTemplateFormatVersion: "2010-09-09"
    Parameters:
      Machine: {{Type: String, Default: {machine}}}
      Number: {{Type: Number, Default: 4}}
      Open: {{Type: Number}}
    Resources:
      A:
        Type: {kind}
        Properties:
          {properties}
    """
GROUPS = "InstanceGroups: [{InstanceGroupName: a, InstanceType: !Ref Machine, InstanceCount: %s}]"


@pytest.mark.parametrize(
    ("kind", "properties", "nodes", "listed"),
    [
        ("AWS::SageMaker::Cluster", GROUPS % "!Ref Number", 4, "defaults of parameters, which a stack may replace"),
        ("AWS::SageMaker::Cluster", GROUPS % '"2"', 2, "Machine"),
        ("AWS::SageMaker::Cluster", GROUPS % "!Ref Open", None, "instance_count = var.Open"),
        ("AWS::EKS::Nodegroup", "{InstanceTypes: [!Ref Machine], ScalingConfig: {DesiredSize: 3, MaxSize: 3}}", 3, ""),
        (
            "AWS::Batch::ComputeEnvironment",
            "ComputeResources: {InstanceTypes: [!Ref Machine], MaxvCpus: 96}",
            None,
            "96",
        ),
        ("AWS::EC2::LaunchTemplate", "LaunchTemplateData: {InstanceType: !Ref Machine}", None, "a template"),
        ("AWS::EC2::Instance", "InstanceType: ${Machine}", 1, ""),
    ],
)
def test_templates_state_machines_by_their_parameters(
    kind: str, properties: str, nodes: int | None, listed: str
) -> None:
    text = TEMPLATE.format(machine="ml.p5.48xlarge", kind=kind, properties=properties)
    reading = read(text)
    assert given(reading)["cluster.platform"] == "aws-p5-48xlarge"
    assert given(reading).get("cluster.nodes") == nodes
    assert listed in unknown(reading)


def test_templates_without_a_type_of_machine_are_refused() -> None:
    with pytest.raises(FormatError, match="states no type of machine"):
        read(TEMPLATE.format(machine="1", kind="AWS::S3::Bucket", properties="Name: a"))


def test_groups_of_a_parameter_that_is_json_are_machines() -> None:
    groups = json.dumps([[{"InstanceGroupName": "a", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 2}]])
    parameters = {"Groups": {"Type": "String", "Default": groups}}
    resources = {"A": {"Type": "AWS::S3::Bucket"}}
    text = json.dumps({"Parameters": parameters, "Resources": resources}, indent="\t")
    assert given(read(text))["cluster.nodes"] == 2


def test_clusters_of_eksctl_state_groups_of_nodes() -> None:
    text = """\
        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        managedNodeGroups:
          - {name: system, instanceType: c5.2xlarge, desiredCapacity: 1}
          - {name: workers, instanceType: p5.48xlarge, desiredCapacity: 2, minSize: 2, maxSize: 2}
        """
    reading = read(text)
    assert (given(reading)["cluster.platform"], given(reading)["cluster.nodes"]) == ("aws-p5-48xlarge", 2)
    assert counts(reading)["c5.2xlarge machines (system)"] == 1


def test_environments_of_batch_grow_by_load() -> None:
    asked = {"instanceTypes": ["p4d.24xlarge"], "maxvCpus": 960}
    reading = read(json.dumps({"computeEnvironmentName": "a", "computeResources": asked}, indent=1))
    assert given(reading) == {"cluster.platform": "aws-p4d-24xlarge"}
    assert "up to 960 virtual processors" in unknown(reading)
