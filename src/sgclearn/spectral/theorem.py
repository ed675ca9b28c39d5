r"""Theorem 1 and Lemmas 1-3 of the paper as statements that are computed and compared.

Why self-loops shrink the spectrum, in one line: with `L = D - A` and `y = D~^-1/2 x`,

    lambda~_n = max_y (y^T L y) / (y^T D~ y)  <  max_y (y^T L y) / (y^T D y) = lambda_n,

because `D~ = D + gamma I` only makes the denominator larger, and `y^T L y` is not zero at the maximum as soon
as an edge joins two different nodes. The same line with `d / (d + gamma)` taken out of the quotient gives
`min_d/(gamma + min_d) lambda_n <= lambda~_n <= max_d/(gamma + max_d) lambda_n`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError
from sgclearn.graph import Graph
from sgclearn.operators.operator import check_operator_choice
from sgclearn.spectral.laplacian import check_undirected, scaled
from sgclearn.spectral.spectrum import top_of

# Rounding of eigenvalues: a "<=" may miss by the first, a "<" must win by more than the second.
_SLACK, _GAP = 1e-8, 1e-12


@dataclass(frozen=True)
class Statement:
    """One inequality: `left relation right`, and whether it holds on this graph."""

    name: str
    text: str
    left: float
    relation: str
    right: float

    @property
    def holds(self) -> bool:
        """Whether it holds, up to rounding."""
        if self.relation == "<":
            return self.right - self.left > _GAP
        if self.relation == "=":
            return abs(self.left - self.right) <= _SLACK
        return self.left <= self.right + _SLACK


@dataclass(frozen=True)
class Theorem1:
    """Everything that Theorem 1 and its lemmas speak of, on one graph.

    Attributes
    ----------
    gamma : float
    n_nodes : int
    min_degree, max_degree : float
        Of the graph without the added loops.
    lambda_1, lambda_n : float
        Smallest and largest eigenvalue of `I - D^-1/2 A D^-1/2`.
    lambda_tilde_1, lambda_tilde_n : float
        The same after `gamma I` was added to `A`.
    alpha_1, alpha_n : float
        Smallest and largest eigenvalue of `D~^-1/2 A D~^-1/2`.
    beta_1, beta_n : float
        Smallest and largest eigenvalue of `D^-1/2 A D^-1/2`.
    n_self_loops, n_isolated : int
        The theorem assumes that both are 0.
    """

    gamma: float
    n_nodes: int
    min_degree: float
    max_degree: float
    lambda_1: float
    lambda_n: float
    lambda_tilde_1: float
    lambda_tilde_n: float
    alpha_1: float
    alpha_n: float
    beta_1: float
    beta_n: float
    n_self_loops: int
    n_isolated: int

    @property
    def assumptions_hold(self) -> bool:
        """Whether the graph is simple and has no isolated node, as the theorem assumes."""
        return self.n_self_loops == 0 and self.n_isolated == 0

    @property
    def is_bipartite(self) -> bool:
        """Whether a connected part of the graph is bipartite: `lambda_n = 2`."""
        return self.lambda_n > 2 - _SLACK

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The inequalities, in the order of the paper."""
        high = self.max_degree / (self.gamma + self.max_degree)
        low = self.min_degree / (self.gamma + self.min_degree)
        return (
            Statement("lemma 1", "0 <= lambda~_1", 0.0, "<=", self.lambda_tilde_1),
            Statement("lemma 2", "lambda_1 = 0", self.lambda_1, "=", 0.0),
            Statement("lemma 2, augmented", "lambda~_1 = 0", self.lambda_tilde_1, "=", 0.0),
            Statement("lemma 3", "max_d/(gamma+max_d) beta_1 <= alpha_1", high * self.beta_1, "<=", self.alpha_1),
            Statement("lemma 3, as printed", "alpha_n <= min_d/(gamma+min_d)", self.alpha_n, "<=", low),
            Statement("lemma 3, as proved", "alpha_n <= max_d/(gamma+max_d)", self.alpha_n, "<=", high),
            Statement("theorem 1, above 0", "0 < lambda~_n", 0.0, "<", self.lambda_tilde_n),
            Statement("theorem 1", "lambda~_n < lambda_n", self.lambda_tilde_n, "<", self.lambda_n),
            Statement(
                "theorem 1, by how much",
                "lambda~_n <= max_d/(gamma+max_d) lambda_n",
                self.lambda_tilde_n,
                "<=",
                high * self.lambda_n,
            ),
        )  # fmt: skip

    @property
    def holds(self) -> bool:
        """Whether `0 = lambda_1 = lambda~_1 < lambda~_n < lambda_n`, Eq. (12)."""
        names = ("lemma 2", "lemma 2, augmented", "theorem 1, above 0", "theorem 1")
        return all(statement.holds for statement in self.statements if statement.name in names)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        statements = [asdict(statement) | {"holds": statement.holds} for statement in self.statements]
        return asdict(self) | {
            "assumptions_hold": self.assumptions_hold,
            "is_bipartite": self.is_bipartite,
            "holds": self.holds,
            "statements": statements,
        }

    def __str__(self) -> str:
        assumed = "hold" if self.assumptions_hold else "do not hold"
        lines = [
            f"Theorem 1 {'holds' if self.holds else 'does not hold'}: largest eigenvalue {self.lambda_n:.4f}, "
            f"with gamma={self.gamma:g} {self.lambda_tilde_n:.4f}",
            f"its assumptions {assumed}: {self.n_self_loops:,} self-loops, {self.n_isolated:,} isolated nodes",
        ]
        for statement in self.statements:
            verdict = "holds" if statement.holds else "FAILS"
            left, right = (round(side, 6) + 0.0 for side in (statement.left, statement.right))  # no -0
            values = f"{left:.6f} {statement.relation} {right:.6f}"
            lines.append(f"  {verdict}  {statement.name:<24}{statement.text:<44}{values}")
        return "\n".join(lines)


def check_theorem1(graph: Graph, gamma: float = 1.0) -> Theorem1:
    r"""Compute both sides of every inequality in Theorem 1 and Lemmas 1-3.

    Theorem 1, Eq. (12): `0 = lambda_1 = lambda~_1 < lambda~_n < lambda_n` for an undirected, weighted, simple
    graph without isolated nodes and gamma > 0.

    Parameters
    ----------
    graph : Graph
        Undirected; one that breaks the assumptions is computed all the same, and says so.
    gamma : float > 0, default 1.0

    Returns
    -------
    Theorem1

    Notes
    -----
    What the assumptions are for:

    - An edge between two different nodes is what `lambda~_n < lambda_n` really needs; without one all
      eigenvalues `lambda~` are 0 and there is nothing to shrink.
    - Isolated nodes: `I - S` has the eigenvalue 1 there before the loops are added and 0 after. Theorem 1
      still holds as long as the graph has an edge; a graph of isolated nodes alone breaks Lemma 2.
    - Loops in the data: Theorem 1 still holds, but its proof by way of Lemma 3 does not, since `beta_1 < 0`
      needs a zero diagonal; heavy loops break the lower bound of Lemma 3.
    - Bipartite graphs are no exception: `lambda_n` is 2, the largest value there is, and `lambda~_n` less.
    - The upper bound of Lemma 3 as the paper prints it, with the smallest degree, holds for regular graphs and
      fails for most others (a star is enough); the steps of its proof give the largest degree.
      Theorem 1 does not use it.

    Cost: six extreme eigenvalues by Lanczos; dense below 200 nodes.

    Examples
    --------
    >>> from sgclearn import Graph
    >>> from sgclearn.spectral import check_theorem1
    >>> square = check_theorem1(Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)]))
    >>> square.holds, round(square.lambda_n, 6), round(square.lambda_tilde_n, 6)
    (True, 2.0, 1.333333)
    """
    check_undirected(graph)
    _, gamma = check_operator_choice("sym", gamma)  # type: ignore[assignment]
    if gamma == 0:
        raise InputError(
            "gamma must be above 0", "0", "Theorem 1 compares with and without self-loops", argument="gamma"
        )
    if graph.n_nodes == 0:
        raise InputError("Theorem 1 must be checked on one node or more", "a graph without nodes")
    degrees = graph.degrees()
    root = np.sqrt(np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0))
    root_tilde = np.sqrt(1.0 / (degrees + gamma))
    plain = scaled(graph.to_scipy(), root, root)
    shrunk = scaled(graph.to_scipy(), root_tilde, root_tilde)
    augmented = shrunk + sparse.diags_array(gamma * root_tilde**2, format="csr")
    beta_1, beta_n = _ends(plain)
    alpha_1, alpha_n = _ends(shrunk)
    low, high = _ends(augmented)
    return Theorem1(
        gamma=gamma,
        n_nodes=graph.n_nodes,
        min_degree=float(degrees.min()),
        max_degree=float(degrees.max()),
        lambda_1=1.0 - beta_n,
        lambda_n=1.0 - beta_1,
        lambda_tilde_1=1.0 - high,
        lambda_tilde_n=1.0 - low,
        alpha_1=alpha_1,
        alpha_n=alpha_n,
        beta_1=beta_1,
        beta_n=beta_n,
        n_self_loops=graph.n_self_loops,
        n_isolated=graph.n_isolated,
    )


def _ends(matrix: Any) -> tuple[float, float]:
    """Smallest and largest eigenvalue."""
    values: list[NDArray[np.float64]] = [top_of(signed)[0] for signed in (-matrix, matrix)]
    return float(-values[0][0]), float(values[1][0])
