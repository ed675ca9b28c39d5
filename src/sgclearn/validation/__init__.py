"""The border: what comes from outside is checked here, once, before scipy, a parser or the kernel sees it.

============== =============================================================================================
`parameters`   one table of rules for the arguments of estimators and functions
`arrays`       array-likes as plain arrays: no masks that would be ignored, no ragged lists
`sparse`       sparse matrices whose parts fit together
`reading`      files: regular ones, within a budget, every fault of a reader an input error
`memory`       how much memory may be used
============== =============================================================================================
"""
