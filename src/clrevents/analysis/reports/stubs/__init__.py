"""List the IL stubs that marshal P/Invoke and delegate calls."""
