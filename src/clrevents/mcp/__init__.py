"""Answers for agents: the same as the command's, small and in one shape, over the Model Context Protocol."""
