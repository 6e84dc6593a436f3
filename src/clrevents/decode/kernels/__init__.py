"""The inner loops, the same source interpreted or compiled; imported only by `engine`."""
