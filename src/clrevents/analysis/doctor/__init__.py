"""What is wrong with a program: rules over the answers of reports, and findings with their evidence."""
