"""The reports, each in a folder of its own with a module `report`; none imports another."""
