"""What threads waited for, from events and samples."""
