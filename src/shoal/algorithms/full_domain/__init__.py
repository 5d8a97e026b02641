"""Full-domain generalization: one level per attribute, found by a pruned search of the lattice."""
