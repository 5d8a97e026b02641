"""KACA and its relatives: classes merged over hierarchies. They share the distance and the merging."""
