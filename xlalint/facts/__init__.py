"""Facts: what the program's values are, what its places do, and how often they run. Where to look:

- The lattice: ``values``, ``joins``, ``domain`` (both, and what is asked of values), ``printing``.
- The engine: ``engine`` (queries), ``answers``, ``attributes``, ``classes``, ``frame`` (one evaluation), ``record`` (what
  it leaves).
- Python: ``expressions``, ``operators``, ``conditions``, ``narrowing``, ``subscripts``, ``statements``, ``loops``,
  ``counters``, ``names``, ``mentions``, ``objects``, ``construction``, ``containers``, ``calls``, ``builtin_calls``.
- Parameters: ``parameters`` (by call, by signature, by use), ``annotations``, ``promises`` (of frameworks),
  ``given`` (whether any of them is data).
- torch: ``torch_calls``, ``torch_factories``, ``torch_methods``, ``torch_modules``, ``shapes``, ``numbers``, ``costs``,
  ``restrictions``, ``vocabulary``.
- Programs that train: ``training``, ``libraries``, ``engines``, ``devices``, ``residence``, ``bucketing``, ``lengths``,
  ``rounding``, ``carried``, ``textual``, ``profiling``, ``pace`` (guards such as ``step % k``).
- Calls out of the program: ``following``, ``summaries`` (what is asked of whoever follows them).
- The whole: ``evaluation`` (one process), ``processes``, ``analysis``, ``regions``, ``step_loops``, ``entries``,
  ``heat``, ``steps``, ``reach``, ``placing`` (facts as rules see them: ``events``), ``explain``, ``watching``,
  ``assumptions``.
"""
