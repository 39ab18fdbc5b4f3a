"""torch itself: functions, factories, methods of tensors, modules."""
