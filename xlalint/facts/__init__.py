"""Facts: what the program's values are, what its places do, and how often they run. Where to look:

- The lattice: ``values``, ``joins``, ``domain`` (both, and what is asked of values), ``printing``.
- The engine: ``engine`` (queries), ``answers``, ``attributes``, ``classes``, ``frame`` (one evaluation), ``record``
  (what it leaves).
- Python: ``expressions``, ``operators``, ``conditions``, ``narrowing``, ``subscripts``, ``statements``, ``targets``,
  ``loops``, ``counters``, ``names``, ``mentions``, ``objects``, ``construction``, ``containers``, ``calls``,
  ``builtin_calls``.
- Parameters: ``parameters`` (by call, by signature, by use), ``annotations``, ``promises`` (of frameworks),
  ``differentiated`` (losses), ``given`` (whether any of them is data, and which that need not be given are).
- torch: ``torch_calls``, ``torch_factories``, ``torch_methods``, ``torch_modules``, ``shapes``, ``numbers``,
  ``costs``, ``restrictions``, ``vocabulary``.
- Programs that train: ``training``, ``optimizer_states``, ``uploads``, ``devices``, ``residence``, ``round_trips``,
  ``timers``, ``warm_up``, ``profiling``, ``process_environment``, ``textual``, ``compiled``; what varies:
  ``bucketing``, ``lengths``, ``rounding``, ``carried``, ``kept_outputs``, ``growing_modules``, ``varying_structure``,
  ``modes``.
- Tests: ``pace`` (``step % k`` and the like), ``settling`` (what runs until it has run), ``seldom``, ``versions`` (of
  torch), ``failing`` (calls that raise).
- Frameworks and packages: ``libraries``, ``package_calls``, ``library_costs``, ``made_models``, ``drivers``,
  ``engines``, ``engine_metrics``, ``called_back``, ``bar_logging``, ``metrics``, ``diffusion``.
- Calls out of the program: ``following``, ``summaries`` (what is asked of whoever follows them).
- The whole: ``workspace`` (the files of a run), ``evaluation`` (one process), ``failures``, ``processes``, ``lending``,
  ``waiting``, ``analysis``, ``regions``, ``step_loops``, ``entries``, ``heat``, ``steps``, ``reach``, ``placing``
  (facts as rules see them: ``events``), ``explain``, ``watching``, ``sights``, ``assumptions``.
"""
