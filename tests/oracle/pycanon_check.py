"""Asks pycanon about a released table. Run by the Python of an environment of its own, where pycanon is installed:

    python pycanon_check.py RELEASE.csv QUESTIONS.json

QUESTIONS: {"quasi": [...], "sensitive": name}. Prints one JSON object with what pycanon measures. In three places
pycanon 1.3.6 measures something else than the papers define: recursive (c, l)-diversity starts from the rarest value
instead of the commonest one, enhanced beta-likeness takes its bound over all values instead of value by value, and
delta-disclosure leaves out the values that a class lacks. The tests translate these numbers.
"""

import json
import sys
from pathlib import Path

import pandas
from pycanon import anonymity


def main() -> None:
    questions = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    data = pandas.read_csv(sys.argv[1], dtype=dict.fromkeys(questions["quasi"], str), keep_default_na=False)
    quasi, sensitive = questions["quasi"], [questions["sensitive"]]
    alpha, k = anonymity.alpha_k_anonymity(data, quasi, sensitive)
    c, recursive_l = anonymity.recursive_c_l_diversity(data, quasi, sensitive)
    answers = {
        "k": anonymity.k_anonymity(data, quasi),
        "alpha": alpha,
        "alpha_k": k,
        "distinct_l": anonymity.l_diversity(data, quasi, sensitive),
        "entropy_l": anonymity.entropy_l_diversity(data, quasi, sensitive),
        "recursive_c": c,
        "recursive_l": recursive_l,
        "t": anonymity.t_closeness(data, quasi, sensitive),
        "basic_beta": anonymity.basic_beta_likeness(data, quasi, sensitive),
        "enhanced_beta": anonymity.enhanced_beta_likeness(data, quasi, sensitive),
        "delta": anonymity.delta_disclosure(data, quasi, sensitive),
    }
    print(json.dumps({name: float(value) for name, value in answers.items()}))


if __name__ == "__main__":
    main()
