"""One module per generation of the format; all yield the values of `decode.container.blocks`."""
