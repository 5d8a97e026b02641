"""Asks pycanon about a released table. Run by the Python of an environment of its own, where pycanon is installed:

    python pycanon_check.py RELEASE.csv QUESTIONS.json

QUESTIONS: {"quasi": [...], "sensitive": name, "l": number, "gen": true}. Prints one JSON object with what pycanon
measures. pycanon numbers records by position and sorts texts, so the table is read as text with a fresh index.
"""

import json
import sys

import pandas
from pycanon import anonymity


def main() -> None:
    questions = json.loads(open(sys.argv[2], encoding="utf-8").read())
    data = pandas.read_csv(sys.argv[1], dtype={name: str for name in questions["quasi"]}, keep_default_na=False)
    quasi, sensitive = questions["quasi"], [questions["sensitive"]]
    alpha, k = anonymity.alpha_k_anonymity(data, quasi, sensitive)
    c, l_of_c = anonymity.recursive_c_l_diversity(data, quasi, sensitive)
    answers = {
        "k": anonymity.k_anonymity(data, quasi),
        "alpha": alpha,
        "alpha_k": k,
        "distinct_l": anonymity.l_diversity(data, quasi, sensitive),
        "entropy_l": anonymity.entropy_l_diversity(data, quasi, sensitive),
        "recursive_c": c,
        "recursive_l": l_of_c,
        "t": anonymity.t_closeness(data, quasi, sensitive),
        "basic_beta": anonymity.basic_beta_likeness(data, quasi, sensitive),
        "enhanced_beta": anonymity.enhanced_beta_likeness(data, quasi, sensitive),
        "delta": anonymity.delta_disclosure(data, quasi, sensitive),
    }
    print(json.dumps({name: float(value) for name, value in answers.items()}))


if __name__ == "__main__":
    main()
