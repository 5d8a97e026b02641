"""Word lists and weights for invented patients: names, places, nationalities, schooling and work.

Everything here was made up for this package; shares are plausible, not measured. Names are put together from parts,
so that no real person is meant.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FEMALE_NAMES: Final = _words(
    """Alva Benthe Calla Dorine Elvi Fenja Gesa Hedda Ilvy Jorunn Kaia Liv Merle Nilda Oda Pernille Ragna Selma Tilda
    Una Vibeke Wilma Ylva Zora Amélie Chiara Daria Esra Fatou Gül Hana Inès Jamila Katya Leyla Mina Noor Oksana
    Paloma Rania Soraya Thuy Valentina Yasmin Zoë"""
)
MALE_NAMES: Final = _words(
    """Arvid Birk Casper Ditmar Eskil Finn Gorm Hauke Ivo Jasper Knut Lasse Malte Nils Ole Peer Ruben Sören Thore
    Ulf Veit Wim Yorick Zeno Andrés Bogdan Cem Dario Emre Farid Goran Hamza Idris Jakub Karim Luan Marek Nikola
    Omar Petros Rafał Samir Tariq Viktor Yusuf"""
)
SURNAME_STARTS: Final = _words(
    """Ahl Birken Bram Dal Eichen Falk Grün Hain Hol Immen Kolm Lind Mar Nord Ost Quell Rehm Sand Stern Tann Ulm Vold
    Wend Zarn O'Bren D'Arv Kova Petri Santo Yild Czarn Nguy"""
)
SURNAME_ENDS: Final = _words("berg bach dorf feld gaard holt kamp lund mann rup sen stad thal wald witz ić ova ez elli")

# Postcode area (the first three digits) -> share of the patients, number of postcodes in it, share of foreigners.
POSTCODE_AREAS: Final[dict[str, tuple[float, int, float]]] = {
    "041": (0.24, 9, 0.22),
    "042": (0.18, 9, 0.12),
    "043": (0.15, 8, 0.28),
    "044": (0.09, 6, 0.06),
    "045": (0.06, 5, 0.05),
    "046": (0.05, 6, 0.04),
    "061": (0.08, 7, 0.15),
    "062": (0.05, 5, 0.05),
    "066": (0.03, 4, 0.03),
    "072": (0.03, 4, 0.07),
    "076": (0.02, 3, 0.04),
    "391": (0.02, 3, 0.10),
}

HOME_NATIONALITY: Final = "German"
# Region -> nationality -> share among the patients from abroad.
NATIONALITIES: Final[dict[str, dict[str, float]]] = {
    "Western Europe": {"German": 0.0, "Austrian": 4, "French": 3, "Dutch": 2, "Swiss": 1},
    "Eastern Europe": {"Polish": 13, "Romanian": 9, "Ukrainian": 12, "Czech": 4, "Bulgarian": 5, "Russian": 6},
    "Southern Europe": {"Italian": 6, "Greek": 3, "Spanish": 3, "Croatian": 3},
    "Middle East": {"Turkish": 11, "Syrian": 12, "Iraqi": 4, "Iranian": 3},
    "Asia": {"Vietnamese": 6, "Indian": 4, "Afghan": 5, "Chinese": 2},
    "Africa": {"Moroccan": 2, "Eritrean": 2, "Nigerian": 1.5},
    "Americas": {"American": 1, "Brazilian": 1},
}

MARITAL_GROUPS: Final[dict[str, list[str]]] = {
    "not living with a spouse": ["never married", "separated", "divorced", "widowed"],
    "living with a spouse": ["married", "registered partnership"],
}
# Age -> weights of never married, married, registered partnership, separated, divorced, widowed.
MARITAL_BY_AGE: Final[dict[int, tuple[float, ...]]] = {
    0: (1, 0, 0, 0, 0, 0),
    17: (1, 0, 0, 0, 0, 0),
    25: (0.82, 0.14, 0.01, 0.02, 0.01, 0),
    35: (0.40, 0.48, 0.03, 0.04, 0.05, 0),
    50: (0.17, 0.60, 0.02, 0.05, 0.14, 0.02),
    65: (0.09, 0.61, 0.01, 0.03, 0.16, 0.10),
    80: (0.06, 0.46, 0.01, 0.01, 0.09, 0.37),
    99: (0.05, 0.14, 0, 0.01, 0.05, 0.75),
}
MARITAL_STATUSES: Final = ("never married", "married", "registered partnership", "separated", "divorced", "widowed")

EDUCATION_GROUPS: Final[dict[str, list[str]]] = {
    "no degree": ["pre-school age", "at school", "no school degree"],
    "school degree": ["lower secondary", "intermediate secondary", "upper secondary"],
    "vocational degree": ["apprenticeship", "master craftsman"],
    "university degree": ["bachelor", "master", "doctorate"],
}
EDUCATIONS: Final = tuple(level for group in EDUCATION_GROUPS.values() for level in group)
# Age -> weights of the levels above, in that order.
EDUCATION_BY_AGE: Final[dict[int, tuple[float, ...]]] = {
    0: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    5: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    6: (0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    15: (0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    19: (0, 0.20, 0.05, 0.14, 0.24, 0.33, 0.04, 0, 0, 0, 0),
    28: (0, 0, 0.05, 0.07, 0.10, 0.19, 0.30, 0.03, 0.17, 0.09, 0),
    45: (0, 0, 0.04, 0.08, 0.09, 0.08, 0.42, 0.07, 0.09, 0.11, 0.02),
    70: (0, 0, 0.06, 0.18, 0.10, 0.04, 0.44, 0.08, 0.03, 0.06, 0.01),
    99: (0, 0, 0.15, 0.34, 0.07, 0.03, 0.34, 0.04, 0.01, 0.02, 0),
}

# Group -> occupation -> weights by schooling (school degree or less, vocational, university), and share of women.
OCCUPATIONS: Final[dict[str, dict[str, tuple[float, float, float, float]]]] = {
    "health and social work": {
        "nurse": (1, 7, 2, 0.83),
        "physician": (0, 0, 7, 0.48),
        "care assistant": (5, 4, 0.2, 0.80),
        "social worker": (0.2, 1, 5, 0.72),
        "childcare worker": (1, 5, 1, 0.91),
    },
    "trade and service": {
        "shop assistant": (8, 7, 0.5, 0.66),
        "cook": (4, 3, 0.1, 0.42),
        "waiter": (5, 2, 0.3, 0.60),
        "hairdresser": (1, 3, 0, 0.86),
        "cleaner": (9, 2, 0.1, 0.78),
        "security guard": (3, 1.5, 0.1, 0.20),
    },
    "industry and crafts": {
        "mechanic": (2, 7, 0.3, 0.07),
        "electrician": (1, 6, 0.2, 0.05),
        "construction worker": (7, 5, 0.1, 0.04),
        "machine operator": (5, 6, 0.1, 0.22),
        "carpenter": (1, 3, 0.2, 0.09),
    },
    "transport": {
        "lorry driver": (5, 4, 0.1, 0.05),
        "bus driver": (2, 2, 0.1, 0.18),
        "warehouse worker": (8, 3, 0.1, 0.30),
    },
    "office and administration": {
        "clerk": (2, 8, 3, 0.70),
        "accountant": (0.2, 4, 4, 0.61),
        "civil servant": (0.3, 3, 6, 0.52),
        "manager": (0.5, 2, 7, 0.31),
    },
    "science and technology": {
        "software developer": (0.3, 1.5, 8, 0.19),
        "engineer": (0, 0.7, 9, 0.20),
        "laboratory technician": (0.2, 3, 1, 0.63),
        "researcher": (0, 0, 4, 0.43),
    },
    "education and culture": {
        "teacher": (0, 0.2, 9, 0.71),
        "musician": (0.3, 0.5, 1.5, 0.41),
        "journalist": (0.1, 0.3, 2, 0.49),
    },
    "farming": {"farmer": (1, 2, 0.4, 0.25), "gardener": (2, 2, 0.2, 0.36)},
    "not working": {
        "young child": (0, 0, 0, 0.5),
        "pupil": (0, 0, 0, 0.5),
        "student": (0, 0, 0, 0.5),
        "homemaker": (4, 3, 1.2, 0.93),
        "unemployed": (9, 4, 1.5, 0.45),
        "retired": (0, 0, 0, 0.5),
    },
}
