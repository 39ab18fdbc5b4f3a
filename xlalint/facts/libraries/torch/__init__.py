"""Models of torch itself: functions, factories, tensor methods, modules."""
