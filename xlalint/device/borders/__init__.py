"""What stands around a script that runs whole: its arguments, data, devices, files, launches. For the worker's
children, and by hand.

The script's own statements run; what it asks the outside for is given by what stands here, and is told. The linter's
own process imports the plan alone.
"""
