"""A wall around programs that nobody vouches for: what they can see, write and reach, each mechanism in its own file.

``choice`` builds one of an ``Enclosure`` with the first mechanism that works here. It is put around the device worker
once, and the worker forks inside. ``landlock``, ``forbidden_calls`` and ``leftovers`` are used inside by the worker,
``process_tree`` outside by whoever started it.
"""
