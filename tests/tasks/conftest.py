"""Small piles of documents for the tests of the tasks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

TOPICS = {
    "energy": ["oil", "crude", "barrel", "opec", "gas", "pipeline", "refinery", "output", "export", "price"],
    "farm": ["wheat", "corn", "crop", "harvest", "rain", "grain", "farmer", "soil", "export", "price"],
    "money": ["bank", "dollar", "rate", "loan", "bond", "central", "currency", "yen", "export", "price"],
}
COMMON = ["said", "year", "new", "report", "week", "market"]


@dataclass(frozen=True)
class News:
    """Made-up news: 16 documents a topic, every fourth without a label."""

    docs: list[str]
    topics: list[str]

    def labels(self, *topics: str) -> list[str]:
        """Labels of some topics; an empty text for every fourth document and for other topics."""
        return [topic if topic in topics and k % 4 else "" for k, topic in enumerate(self.topics)]


@pytest.fixture(scope="session")
def news() -> News:
    rng = np.random.default_rng(20190609)
    docs, topics = [], []
    for k in range(48):
        topic = list(TOPICS)[k % 3]
        words = [*rng.choice(TOPICS[topic], 5), *rng.choice(COMMON, 4)]
        docs.append(" ".join(rng.permutation(words)))
        topics.append(topic)
    return News(docs, topics)
