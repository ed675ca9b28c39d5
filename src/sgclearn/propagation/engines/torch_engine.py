"""For people with a GPU: dense products by torch, in the memory of the device. Needs the extra `torch`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from sgclearn.errors import require
from sgclearn.propagation.engines.contract import OnProgress, Prices
from sgclearn.propagation.engines.scipy_engine import ScipyEngine, ScipyWalk

if TYPE_CHECKING:
    from sgclearn.operators import Operator
    from sgclearn.propagation.neighbourhood import HopBlock


class TorchEngine(ScipyEngine):
    """Blocks of S as CSR tensors on the GPU, or on the processor if there is none; sparse products are scipy's."""

    name = "torch"
    prices = Prices(sparse_sparse=12.0, sparse_dense=0.4, builds_values=True, packs_columns=False)

    def __init__(self) -> None:
        self.torch = require("torch", "torch")
        self.device = "cuda" if self.torch.cuda.is_available() else "cpu"

    def walk(
        self, operator: Operator, sets: list[NDArray[np.intp]], rows: NDArray[np.intp], dtype: DTypeLike
    ) -> TorchWalk:
        """Ready to walk between the sets."""
        return TorchWalk(operator, sets, rows, dtype, self)


class TorchWalk(ScipyWalk):
    """What goes through several hops stays on the device until its rows are asked for."""

    def __init__(
        self,
        operator: Operator,
        sets: list[NDArray[np.intp]],
        rows: NDArray[np.intp],
        dtype: DTypeLike,
        engine: TorchEngine,
    ) -> None:
        super().__init__(operator, sets, rows, dtype)
        self.torch, self.device = engine.torch, engine.device
        self._tensors: dict[int, Any] = {}

    def forward(
        self,
        H: Any,
        coefficients: NDArray[np.float64],
        *,
        scale: NDArray[Any] | None = None,
        nodes: NDArray[np.intp] | None = None,
        on_progress: OnProgress | None = None,
    ) -> NDArray[Any]:
        """See `Walk`."""
        H = H if nodes is None else H[nodes]
        H = self._values(H.toarray() if sparse.issparse(H) else H)
        if scale is not None:
            H = H * self._values(scale)[:, None]
        hops = len(coefficients) - 1
        total = self.torch.zeros((self.n_rows, H.shape[1]), dtype=H.dtype, device=self.device)
        for k in range(hops + 1):
            if k:
                H = self._tensor(self.blocks[hops - k]) @ H
                if on_progress:
                    on_progress(k, hops)
            if coefficients[k] != 0:
                place = self.places[hops - k]
                total += float(coefficients[k]) * (H if place is None else H[self._to_device(place)])
        return np.asarray(total.cpu().numpy())

    def step(self, k: int, H: Any) -> Any:
        """See `Walk`."""
        if sparse.issparse(H):
            return super().step(k, H)
        return (self._tensor(self.blocks[k]) @ self._values(H)).cpu().numpy()

    def backward(self, G: NDArray[np.float64], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Walk`; by Horner's rule."""
        hops, rows = len(coefficients) - 1, self._values(G)
        H = float(coefficients[hops]) * self._values(self._spread(G))
        for k in range(hops):
            H = self._tensor(self.blocks[k].transposed) @ H
            if coefficients[hops - k - 1] != 0:
                place = self.places[k + 1]
                at = slice(None) if place is None else self._to_device(place)
                H[at] += float(coefficients[hops - k - 1]) * rows
        return np.asarray(H.cpu().numpy())

    def _values(self, array: NDArray[Any]) -> Any:
        """Numbers on the device, of the walk's own type: torch does not multiply two types."""
        return self._to_device(array.astype(self.dtype, copy=False))

    def _to_device(self, array: NDArray[Any]) -> Any:
        # The arrays of a graph are read-only, which torch does not know: those are copied.
        return self.torch.from_numpy(np.require(array, requirements=["C", "W"])).to(self.device)

    def _tensor(self, block: HopBlock) -> Any:
        """The block as a CSR tensor, made once: blocks are shared between hops."""
        if id(block) not in self._tensors:
            matrix = block.matrix(self.dtype)
            parts = (matrix.indptr, matrix.indices, matrix.data)
            tensors = [self._to_device(part) for part in parts]
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
                self._tensors[id(block)] = self.torch.sparse_csr_tensor(
                    *tensors, size=matrix.shape, check_invariants=False
                )
        return self._tensors[id(block)]
