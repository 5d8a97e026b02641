"""Algorithms that split groups in two from the top: CB, and the non-homogeneous one."""
