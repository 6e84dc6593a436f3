"""The inner loops, the same source interpreted or compiled; `engine` alone imports them."""
