"""What reports on sampled or weighted stacks share: which samples there are, what threads did then, and which frames
their stacks show. Answers nothing by itself."""
