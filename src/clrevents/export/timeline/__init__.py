"""What lies on one timeline, said once for every format that shows one."""
