"""Clusters grown one by one around a first record: k-member, KOC and k-means."""
