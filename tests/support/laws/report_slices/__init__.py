"""Reports that exist for tests only: small ones, which use every part of the frame."""
