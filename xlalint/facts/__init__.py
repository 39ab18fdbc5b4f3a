"""Facts: what the program's values are, what its places do, and how often they run.

An abstract interpreter, in rooms that import downwards only:

- ``explain``: what is known of one line, for a reader.
- ``driver``: a run over files, in one process or in several; from records to the facts that rules see.
- ``engine``: the queries between functions, each answered once: calls, attributes, classes, parameters.
- ``interpreter``: statements, expressions, names and calls.
- ``libraries``: what calls and methods from outside of the program give and do.
- ``detectors``: what looks at values as they pass by, and emits the events that cost.
- ``operations``: members, elements, arithmetic, shapes, devices of values.
- ``guards``: what a test implies for the names in it, and how often its arms run.
- ``heat``: how often a place runs, over the whole call graph.
- ``state``: one evaluation: its environment, where it stands, what it leaves behind.
- ``domain``: the lattice of abstract values.

What rooms hand each other stands beside them: ``events`` for rules; ``records`` and ``regions`` of one function;
``external`` for calls out of the program; ``options``; ``failures``. The way of one line through the rooms is told in
docs/architecture.md.
"""
