"""GraphML, read as a stream by the expat parser of the standard library.

A document type declaration is refused: it is where entity bombs live, and GraphML needs none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from sgclearn.errors import InputError, Place
from sgclearn.validation.reading import MOST_TOKEN, opened, reading

_CHUNK = 1 << 20


@dataclass
class GraphMLDocument:
    """What a GraphML file says: nodes in document order, edges, and the attribute chosen as weight."""

    directed: bool = False
    nodes: list[str] = field(default_factory=list)
    source: list[str] = field(default_factory=list)
    target: list[str] = field(default_factory=list)
    weights: list[float] | None = None


class _Reader:
    """Handlers of the parser; one instance reads one file."""

    def __init__(self, weight: str) -> None:
        self.weight = weight
        self.document = GraphMLDocument()
        self.weight_key: str | None = None
        self.default = 1.0
        self.text: list[str] | None = None  # the characters of the element being read, if they matter
        self.in_key = False
        self.in_edge = False
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def parse(self, stream: BinaryIO) -> None:
        """Read the whole stream.

        The parser starts a token again with every chunk until it has its end, so that a long attribute in small chunks
        takes quadratic time: chunks are large, and tokens bounded.
        """
        fed = 0
        while chunk := stream.read(_CHUNK):
            self.parser.Parse(chunk, False)
            fed += len(chunk)
            if fed - max(self.parser.CurrentByteIndex, 0) > MOST_TOKEN + _CHUNK:
                raise self.fail(
                    f"no attribute or tag may have more than {MOST_TOKEN:,} bytes", "more", "shorten it"
                )
        self.parser.Parse(b"", True)

    def fail(self, expected: str, got: str, remedy: str) -> InputError:
        """Give the error for what is wrong at the line being read."""
        line = self.parser.CurrentLineNumber
        return InputError(expected, got, remedy, place=Place(row=line - 1, line=f"line {line}"))

    def _refuse_doctype(self, *_: object) -> None:
        raise self.fail("a DOCTYPE or ENTITY declaration may not stand in GraphML", "one", "remove it")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if name == "node":
            self.document.nodes.append(self._attribute(name, attributes, "id"))
        elif name == "edge":
            self._edge(attributes)
        elif name == "data":
            wanted = self.in_edge and attributes.get("key") == self.weight_key is not None
            self.text = [] if wanted else None
        elif name == "key":
            self.in_key = (
                attributes.get("for") in {"edge", "all"} and attributes.get("attr.name") == self.weight
            )
            if self.in_key:
                self.weight_key = self._attribute(name, attributes, "id")
                self.document.weights = []
        elif name == "default" and self.in_key:
            self.text = []
        elif name == "graph":
            self.document.directed = attributes.get("edgedefault") == "directed"
        elif name == "hyperedge":
            raise self.fail("edges must join two nodes", "a hyperedge", "split it into edges")

    def _edge(self, attributes: dict[str, str]) -> None:
        own = attributes.get("directed")
        if own is not None and (own in {"true", "1"}) != self.document.directed:
            remedy = "make it agree with edgedefault"
            raise self.fail("all edges must be directed or all undirected", "both kinds", remedy)
        self.document.source.append(self._attribute("edge", attributes, "source"))
        self.document.target.append(self._attribute("edge", attributes, "target"))
        if self.document.weights is not None:
            self.document.weights.append(self.default)
        self.in_edge = True

    def _attribute(self, element: str, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            raise self.fail(f"every {element} must have the attribute {name}", "one without", "add it")
        return attributes[name]

    def _characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        if name in {"data", "default"} and self.text is not None:
            value = self._number("".join(self.text))
            self.text = None
            if name == "default":
                self.default = value
            elif self.document.weights:
                self.document.weights[-1] = value
        elif name == "edge":
            self.in_edge = False
        elif name == "key":
            self.in_key = False

    def _number(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise self.fail(f"{self.weight!r} must be numbers", repr(text), "mend it") from None


def parse_graphml(path: Path, weight: str) -> GraphMLDocument:
    """Read nodes, edges and the edge attribute called `weight` (None in the result if there is none)."""
    reader = _Reader(weight)
    with reading(path, "a whole GraphML file"), opened(path) as stream:
        reader.parse(stream)
    return reader.document
