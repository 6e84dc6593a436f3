"""What is on a timeline, defined once for all formats that show one."""
