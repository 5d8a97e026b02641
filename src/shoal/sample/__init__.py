"""The embedded sample: an invented hospital's patients."""

from shoal.sample.hospital import hospital_hierarchies, hospital_roles, hospital_table

__all__ = ["hospital_hierarchies", "hospital_roles", "hospital_table"]
