"""Names for addresses: methods with lifetimes, modules, IL offsets, stacks as frames."""
