"""Processor time that the operating system counted, and its division among samples."""
