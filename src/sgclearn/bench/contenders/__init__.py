"""The side of the benchmark that runs in a process of its own, one for each contender.

The peers live in an environment without sgclearn, so nothing here but `ours.py` and `gather.py` may import it: the
process starts with the folder above this one on its path and finds this package as `contenders`.

A contender is a function `f(problem) -> run`. It prepares what its library keeps ready between calls; `run()` is
what is timed, and returns an `Answer`.
"""
