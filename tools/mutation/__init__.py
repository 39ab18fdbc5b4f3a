"""Small wrong changes to tables and code, one at a time: some fast test must fail for each.

    python -m tools.mutation                  # 300 mutants, half an hour on one core
    python -m tools.mutation --count 20 --kind guards

Made from ``--seed``, which is fixed: the same sources give the same mutants. The result of a whole run is written to
``result.md`` beside this file with ``--write``.
"""
