"""Files of Terraform: machines that they state, references that they leave open, and texts that are no HCL."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.purchasing import terraform_files
from clusterspec.exchange.purchasing.hcl import Expression, blocks_of
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown

EKS = """
    # node groups
    module "eks" {
      source = "terraform-aws-modules/eks/aws"
      tags   = merge(local.tags, { "a" = "}" })
      eks_managed_node_groups = {
        training = {
          instance_types = [var.kind]
          min_size = 2
          max_size = 2
          desired_size = 2
          user_data = <<-EOT
            instance_type = "p4d.24xlarge"
            { not closed
          EOT
        }
        default = { instance_types = ["m5.large"], desired_size = 3 }
      }
    }
    variable "kind" {
      default = "p5.48xlarge"
    }
"""


def test_node_groups_of_a_module_are_machines_with_the_defaults_of_variables() -> None:
    reading = read(EKS)
    assert reading.kind == "terraform"
    assert given(reading) == {"cluster.platform": "aws-p5-48xlarge", "cluster.nodes": 2}
    assert counts(reading) == {"p5.48xlarge machines (training)": 2, "m5.large machines (default)": 3}
    assert "default: m5.large: no catalog entry" in unknown(reading)


def test_a_group_that_grows_states_its_first_machines_and_one_between_limits_states_none() -> None:
    first = read(EKS.replace("max_size = 2", "max_size = 8"))
    assert given(first)["cluster.nodes"] == 2
    assert "training: 2 at first, up to 8 by load" in unknown(first)
    between = read(EKS.replace("max_size = 2", "max_size = 8").replace("  desired_size = 2\n", "\n"))
    assert given(between) == {"cluster.platform": "aws-p5-48xlarge"}
    assert "training: between 2 and 8, by load" in unknown(between)


def test_a_reference_that_the_file_does_not_resolve_is_not_stated() -> None:
    reading = read(EKS.replace('variable "kind"', 'variable "other"').replace('["m5.large"]', '["g6e.xlarge"]'))
    assert given(reading) == {"cluster.platform": "aws-g6e-xlarge", "cluster.nodes": 3}
    assert "eks.instance_types = var.kind: a reference" in unknown(reading)
    with pytest.raises(FormatError, match=r"line 8: states eks\.instance_types = var\.kind"):
        read(EKS.replace('variable "kind"', 'variable "other"').replace('["m5.large"]', "local.types"))
    counted = read(EKS.replace("desired_size = 2", "desired_size = var.nodes"))
    assert given(counted) == {"cluster.platform": "aws-p5-48xlarge"}
    assert "training: desired_size = var.nodes" in unknown(counted)


POOL = """
resource "google_container_node_pool" "gpu" {
  count = 2
  node_count = 4
  node_config {
    machine_type = "n1-standard-16"
    guest_accelerator {
      type  = "nvidia-tesla-v100"
      count = 8
    }
  }
}
"""


def test_accelerators_with_a_type_of_machine_are_those_of_a_node() -> None:
    """Two pools of four machines, each with eight accelerators."""
    expected = {"cluster.accelerator": "v100-sxm-16gb", "cluster.accelerators_per_node": 8, "cluster.nodes": 8}
    assert given(read(POOL)) == expected
    of_each = read(POOL.replace("count = 2", "for_each = toset(var.zones)", 1))
    assert "cluster.nodes" not in given(of_each)
    assert "gpu: of each of several: toset(var.zones)" in unknown(of_each)
    scaled = read(POOL.replace("node_count = 4", "autoscaling {\n    min_node_count = 0\n    max_node_count = 9\n  }"))
    assert "cluster.nodes" not in given(scaled)
    assert "gpu: between 0 and 9, by load" in unknown(scaled)


def test_machines_of_several_types_are_not_joined() -> None:
    other = POOL.replace('"gpu"', '"more"').replace("count = 8", "count = 4")
    reading = read(POOL + other)
    assert given(reading) == {}
    assert "several types of machines with accelerators: 8 × n1-standard-16, 8 × n1-standard-16" in unknown(reading)
    alike = read(POOL + POOL.replace('"gpu"', '"more"'))
    assert "cluster.nodes" not in given(alike)
    assert "cluster.nodes: gpu: 8; more: 8" in unknown(alike)


def test_values_are_literals_or_the_text_of_an_expression() -> None:
    text = """
    a "b" "c" {
      one = 1 # first
      two = [1.5, "x\\"y", true, null,]
      three = { "k" = "v", (var.x) : f(1, "}") }
      four = one ? "a" : "b"
      five = "n-${var.x["${a}"]}"
      six { seven = 8 }
      six { seven = 9 }
      nine = [for x in y : x]
      ten = "$${x}"
    } // end
    """
    block = blocks_of(text)[0]
    assert (block.kind, block.labels, block.line) == ("a", ("b", "c"), 2)
    table = block.table
    assert (table["one"], table["two"]) == (1, [1.5, 'x"y', True, None])
    assert dict(table["three"]) == {"k": "v", "(var.x)": 'f(1, "}")'}
    assert isinstance(table["three"]["(var.x)"], Expression)
    assert (table["four"], table["five"], table["nine"]) == (
        'one ? "a" : "b"',
        'n-${var.x["${a}"]}',
        "[for x in y : x]",
    )
    assert all(isinstance(table[name], Expression) for name in ("four", "five", "nine"))
    assert [each["seven"] for each in table["six"]] == [8, 9]
    assert (table["ten"], type(table["ten"]), table.lines["six"]) == ("${x}", str, 8)


@pytest.mark.parametrize(
    "text",
    [
        'a = "${' * 9_000,
        "a = [" * 9_000,
        "x {" * 9_000,
        "a = f(" * 9_000,
        'a {\n b = "',
        "a = {1 2}",
        "a b c {",
        "= 1",
        "a = {b",
    ],
)
def test_a_text_that_is_no_hcl_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(FormatError, match=r"line [12]: is not HCL"):
        blocks_of(text)


def test_a_module_with_accelerators_and_no_machine_is_listed() -> None:
    text = """
        resource "google_compute_instance" "box" {
          machine_type = "n2-standard-64"
        }
        module "tpus" {
          source           = "../modules/tpu"
          accelerator_type = "tpu7x-8"
          instance_count   = 18
        }
    """
    reading = read(text, name="main.tf")
    assert not given(reading)
    assert "tpus.accelerator_type = tpu7x-8: names accelerators and no type of machine" in unknown(reading)


@each(("number", "refused"), [(3, False), (4, True)])
def test_a_file_states_at_most_so_many_pools(number: int, refused: bool) -> None:
    text = "".join(
        f'resource "aws_instance" "n{index}" {{\n  instance_type = "p5.48xlarge"\n  count = 2\n}}\n'
        for index in range(number)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terraform_files, "MOST_POOLS", 3)
        if refused:
            with pytest.raises(FormatError, match="states more than 3 pools of machines"):
                read(text)
        else:
            assert len(counts(read(text))) == 3
