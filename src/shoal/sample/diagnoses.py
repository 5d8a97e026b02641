"""What the invented patients are in hospital for: how often, at what age and sex, for how long, and at what cost."""

from __future__ import annotations

from typing import Final, NamedTuple


class Diagnosis(NamedTuple):
    """`frequency` is that at the peak age; `spread` is the age distance at which it has fallen to a quarter."""

    name: str
    frequency: float
    peak_age: float
    spread: float
    women: float  # factor on the frequency for women; men have 2 - women
    stay: float  # median days
    daily_cost: float
    fixed_cost: float
    season: str = "none"  # none, winter, summer


CHAPTERS: Final[dict[str, tuple[Diagnosis, ...]]] = {
    "circulatory": (
        Diagnosis("heart failure", 9, 84, 16, 0.97, 9, 480, 900, "winter"),
        Diagnosis("myocardial infarction", 5, 71, 16, 0.65, 6, 900, 5200, "winter"),
        Diagnosis("atrial fibrillation", 5, 76, 16, 0.95, 4, 520, 1400),
        Diagnosis("stroke", 6, 80, 17, 0.98, 10, 690, 2400),
        Diagnosis("hypertension", 3, 70, 25, 1.25, 4, 420, 300),
    ),
    "respiratory": (
        Diagnosis("pneumonia", 6, 82, 18, 0.88, 8, 500, 600, "winter"),
        Diagnosis("bronchitis", 9, 2, 4, 0.85, 3, 560, 250, "winter"),
        Diagnosis("chronic lung disease", 5, 72, 14, 0.85, 8, 490, 500, "winter"),
        Diagnosis("asthma", 2, 10, 14, 0.95, 3, 520, 250),
        Diagnosis("tonsil operation", 5, 7, 12, 1.05, 3, 480, 1500),
    ),
    "digestive": (
        Diagnosis("gallstones", 4, 58, 30, 1.30, 4, 520, 2600),
        Diagnosis("appendicitis", 4, 16, 16, 0.92, 4, 540, 2300),
        Diagnosis("hernia", 4, 62, 25, 0.30, 2, 500, 2100),
        Diagnosis("gastroenteritis", 5, 3, 8, 1.00, 3, 480, 200, "winter"),
        Diagnosis("bowel inflammation", 2, 34, 22, 1.05, 7, 510, 800),
        Diagnosis("liver cirrhosis", 2, 59, 13, 0.62, 10, 540, 1100),
    ),
    "cancer": (
        Diagnosis("breast cancer", 5, 64, 18, 1.98, 5, 640, 5600),
        Diagnosis("prostate cancer", 4, 71, 11, 0.0, 6, 620, 5900),
        Diagnosis("colon cancer", 3, 73, 15, 0.85, 11, 650, 7200),
        Diagnosis("lung cancer", 4, 69, 13, 0.76, 7, 630, 5200),
        Diagnosis("leukaemia", 1, 66, 35, 0.85, 16, 980, 8200),
    ),
    "injury": (
        Diagnosis("concussion", 4, 6, 20, 0.90, 2, 450, 250, "summer"),
        Diagnosis("hip fracture", 5, 87, 11, 1.35, 13, 560, 6200, "winter"),
        Diagnosis("forearm fracture", 4, 12, 18, 0.90, 2, 500, 2400, "summer"),
        Diagnosis("ankle fracture", 3, 42, 30, 1.05, 4, 510, 3100, "winter"),
        Diagnosis("burn", 1, 4, 22, 0.80, 7, 880, 2600),
    ),
    "mental health": (
        Diagnosis("depression", 4, 48, 25, 1.20, 28, 310, 300, "winter"),
        Diagnosis("alcohol dependence", 5, 47, 16, 0.52, 11, 300, 250),
        Diagnosis("schizophrenia", 2, 35, 18, 0.82, 30, 320, 300),
        Diagnosis("eating disorder", 1, 18, 7, 1.80, 34, 340, 300),
    ),
    "pregnancy and birth": (
        Diagnosis("normal birth", 16, 31, 6, 2.0, 3, 620, 1100),
        Diagnosis("caesarean section", 7, 33, 6, 2.0, 5, 650, 2500),
        Diagnosis("premature labour", 3, 30, 7, 2.0, 6, 560, 700),
        Diagnosis("newborn care", 55, 0, 0.4, 0.98, 3, 420, 300),
    ),
    "muscles and joints": (
        Diagnosis("knee replacement", 5, 71, 12, 1.20, 8, 520, 7400),
        Diagnosis("hip replacement", 5, 73, 12, 1.15, 9, 520, 7600),
        Diagnosis("back pain", 5, 55, 20, 1.08, 6, 430, 600),
        Diagnosis("disc prolapse", 3, 49, 15, 0.92, 6, 480, 4200),
    ),
    "infection": (
        Diagnosis("sepsis", 4, 80, 18, 0.86, 13, 860, 2300),
        Diagnosis("kidney infection", 3, 66, 40, 1.40, 5, 450, 350),
        Diagnosis("influenza", 2, 70, 35, 1.00, 5, 470, 250, "winter"),
        Diagnosis("HIV", 0.4, 42, 15, 0.45, 8, 620, 1400),
        Diagnosis("tuberculosis", 0.3, 38, 25, 0.70, 19, 480, 900),
    ),
    "metabolism": (
        Diagnosis("diabetes", 4, 69, 20, 0.88, 8, 440, 450),
        Diagnosis("thyroid disease", 3, 53, 20, 1.55, 3, 500, 2600),
        Diagnosis("dehydration", 3, 86, 12, 1.20, 5, 420, 200, "summer"),
    ),
}
DIAGNOSES: Final = tuple(diagnosis for chapter in CHAPTERS.values() for diagnosis in chapter)
ONLY_WOMEN: Final = ("normal birth", "caesarean section", "premature labour")
