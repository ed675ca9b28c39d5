"""Layers that make the numbers of a node from its own and those of drawn neighbours: mean, GCN, LSTM.

A layer reads either features (`RowFeatures`, the first layer) or the hidden numbers of the sources (a tensor).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sgclearn.baselines.features import EXTRA
from sgclearn.baselines.neighbours import Block
from sgclearn.baselines.network import linear
from sgclearn.baselines.sage_features import RowFeatures
from sgclearn.baselines.sparse_torch import SparseProduct
from sgclearn.errors import require

AGGREGATORS = ("mean", "lstm", "gcn")


def sage_layer(aggregator: str, n_in: int, hidden: int) -> Any:
    """Weights of a layer with `2 hidden` outputs (a `torch.nn.ModuleDict`)."""
    torch = require("torch", EXTRA)
    if aggregator == "gcn":
        return torch.nn.ModuleDict({"both": linear(n_in, 2 * hidden)})
    parts = {"own": linear(n_in, hidden), "others": linear(n_in, hidden)}
    if aggregator == "lstm":
        parts = {"own": parts["own"], "cell": _cell(n_in, hidden), "others": linear(hidden, hidden)}
    return torch.nn.ModuleDict(parts)


def _cell(n_in: int, hidden: int) -> Any:
    torch = require("torch", EXTRA)
    cell = torch.nn.LSTMCell(n_in, hidden)
    torch.nn.init.xavier_uniform_(cell.weight_ih)  # torch's own start forgets how many numbers come in
    return cell


def aggregate(layer: Any, inputs: Any, block: Block) -> Any:
    """Numbers of the targets (t, 2 hidden), before the activation.

    Parameters
    ----------
    layer : ModuleDict of `sage_layer`
    inputs : RowFeatures, or tensor (s, n_in) with a row for every source of the block
    block : Block
    """
    torch = require("torch", EXTRA)
    if "both" in layer:
        return mean_linear(inputs, block, layer["both"], with_own=True)
    own = own_linear(inputs, block, layer["own"])
    if "cell" in layer:
        others = layer["others"](last_state(layer["cell"], inputs, block))
    else:
        others = mean_linear(inputs, block, layer["others"])
    return torch.cat([own, others], dim=1)


def own_linear(inputs: Any, block: Block, layer: Any) -> Any:
    """`W x_i + b` of every target."""
    if isinstance(inputs, RowFeatures):
        return inputs.linear(block.sources[block.own], layer.weight, layer.bias)
    return layer(inputs.index_select(0, require("torch", EXTRA).from_numpy(block.own)))


def source_linear(inputs: Any, block: Block, weight: Any, bias: Any) -> Any:
    """`W x_j + b` of every source."""
    if isinstance(inputs, RowFeatures):
        return inputs.linear(block.sources, weight, bias)
    return require("torch", EXTRA).nn.functional.linear(inputs, weight, bias)


def mean_linear(inputs: Any, block: Block, layer: Any, with_own: bool = False) -> Any:
    """`W mean_j x_j + b` of every target, over the neighbours drawn."""
    P = block.mean(with_own)
    if isinstance(inputs, RowFeatures):
        return inputs.mean(P, block.sources, layer.weight, layer.bias)
    return layer(SparseProduct(P)(inputs))


def last_state(cell: Any, inputs: Any, block: Block) -> Any:
    """Last state (t, hidden) of an LSTM over the neighbours of each target; zero where there are none.

    What an input adds to the gates is computed once a source. Targets with many neighbours come first, so that step
    k goes over those that have a k-th neighbour, and no others.
    """
    torch = require("torch", EXTRA)
    gates_in = source_linear(inputs, block, cell.weight_ih, cell.bias_ih + cell.bias_hh)  # (s, 4 hidden)
    order = np.argsort(-block.counts, kind="stable")
    counts, starts = block.counts[order], block.indptr[:-1][order]
    n_steps = int(counts[0]) if len(counts) else 0
    # How many targets have more than k neighbours; those are the first ones.
    active = np.searchsorted(-counts, -np.arange(n_steps), side="left").tolist()
    read = [block.indices[starts[:n] + step] for step, n in enumerate(active)]
    # One gather for all steps: a gradient of each would be as large as all sources.
    places = torch.from_numpy(np.concatenate([*read, np.zeros(0, np.intp)]))
    h = c = gates_in.new_zeros(len(order), cell.hidden_size)
    done = []
    for n, gates in zip(active, gates_in.index_select(0, places).split(active), strict=True):
        done.append(h[n:])
        i, f, g, o = (gates + h[:n] @ cell.weight_hh.t()).chunk(4, dim=1)
        c = f.sigmoid() * c[:n] + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    return torch.cat([h, *reversed(done)]).index_select(0, torch.from_numpy(np.argsort(order)))
