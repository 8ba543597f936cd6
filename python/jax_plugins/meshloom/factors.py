# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules of custom_partitioning: "i j, j k -> i k".

The letters are factors. They say how the layouts of the operands give those of the results:
dims of the same factor are cut along the same axes of the mesh, each axis cuts one factor,
and factors that need replication are not cut. A dim of several factors ("(a b)") is cut along
the first ones.
"""

import math

from jax._src.custom_partitioning_sharding_rule import (
    SdyShardingRule, sdy_sharding_rule_to_mlir, str_to_sdy_sharding_rule)
from jax._src.lib.mlir.dialects import sdy


def _axes(entry):
    """Returns the axes of an entry of a PartitionSpec."""
    if entry is None:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


def _factors(values):
    """Returns the factors of each dim, for each value."""
    return [[list(sdy.DimMappingAttr(dim).factor_indices)
             for dim in sdy.TensorMappingAttr(value).dim_mappings] for value in values]


class Rule:
    """A rule for the operands and results of one call."""

    def __init__(self, rule, static_args, mesh, operand_types, result_types):
        if callable(rule):
            rule = rule(*static_args, mesh, operand_types, result_types)
            options = {}
            if isinstance(rule, (list, tuple)) and len(rule) == 2:
                rule, options = rule
            if isinstance(rule, str):
                rule = str_to_sdy_sharding_rule(rule, **options)
        if not isinstance(rule, SdyShardingRule):
            raise ValueError("the function `sharding_rule` of a custom_partitioning must return "
                             "an SdyShardingRule, or a text such as 'i j -> i'")
        attribute = sdy_sharding_rule_to_mlir(rule, operand_types, result_types)
        self.operands = _factors(attribute.operand_mappings)
        self.results = _factors(attribute.result_mappings)
        self.sizes = list(attribute.factor_sizes)
        self.replicated = set(attribute.need_replication_factors)

    def results_of(self, operands, axis_sizes):
        """Returns the layouts of the results; the first operand that cuts a factor decides."""
        cuts = {}
        for dims, spec in zip(self.operands, operands, strict=True):
            for factors, entry in zip(dims, spec):
                self._cut(cuts, factors, _axes(entry), axis_sizes)
        return [[self._entry(cuts, factors, axis_sizes) for factors in dims]
                for dims in self.results]

    def _shards(self, axes, axis_sizes):
        return math.prod(axis_sizes[axis] for axis in axes)

    def _cut(self, cuts, factors, axes, axis_sizes):
        """Cuts the factors of a dim, where no earlier operand has."""
        used = {axis for cut in cuts.values() for axis in cut}
        remaining = [axis for axis in axes if axis not in used]
        for factor in factors:
            if factor in cuts or factor in self.replicated:
                return
            cut = ()
            while remaining:
                longer = (*cut, remaining[0])
                if self.sizes[factor] % self._shards(longer, axis_sizes):
                    break
                cut = longer
                remaining.pop(0)
            if cut:
                cuts[factor] = cut
            if self._shards(cut, axis_sizes) < self.sizes[factor]:
                return

    def _entry(self, cuts, factors, axis_sizes):
        """Returns the entry of the PartitionSpec of a dim."""
        axes = ()
        for factor in factors:
            cut = cuts.get(factor, ())
            axes += cut
            # A later factor can be cut where each part has one index of this one.
            if self._shards(cut, axis_sizes) < self.sizes[factor]:
                break
        return axes or None
