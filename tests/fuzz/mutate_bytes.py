"""Changes that know nothing of the file: flip, cut, repeat, splice, overwrite a number."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from fuzz.values import INTEGERS

Mutator = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def mutate_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Flip, cut, repeat, splice, or overwrite a number of 1 to 8 bytes."""
    out = bytearray(data or b"\0")
    at = rng.randrange(len(out))
    until = min(len(out), at + rng.choice((1, 2, 4, 8, 16, 64, len(out))))
    match rng.randrange(9):
        case 0:
            for _ in range(rng.choice((1, 1, 2, 8))):
                out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
        case 1:
            out[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        case 2:
            del out[at:]
        case 3:
            del out[at:until]
        case 4:
            out[at:at] = out[at:until] * rng.choice((1, 1, 2, 16, 200))
        case 5:
            out[at:at] = rng.randbytes(rng.choice((1, 2, 8, 64)))
        case 6:
            other = rng.choice(list(others)) or b"\0"
            out[at:] = other[rng.randrange(len(other)) :]
        case 7:
            width = rng.choice((1, 2, 4, 8))
            value = rng.choice(INTEGERS) % (1 << 8 * width)
            out[at : at + width] = value.to_bytes(width, rng.choice(("little", "little", "big")))
        case _:
            start = rng.randrange(len(out))
            out[at:until], out[start : start + until - at] = out[start : start + until - at], out[at:until]
    return bytes(out)
