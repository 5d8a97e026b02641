"""What names of columns tell."""

from __future__ import annotations

import pytest

from shoal.inspection.names import kinds_of_name, parts_of_name, words


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("patientId", ["patient", "id"]),
        ("PATIENT_ID", ["patient", "id"]),
        ("HTTPServer name", ["http", "server", "name"]),
        ("Größe", ["groesse"]),
        ("prénom", ["prenom"]),
        ("diag1", ["diag"]),
        ("education-num", ["education", "num"]),
    ],
)
def test_parts(name: str, parts: list[str]) -> None:
    assert parts_of_name(name) == parts


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Geburtsdatum", "quasi-identifying"),
        ("Postleitzahl", "quasi-identifying"),
        ("postCode", "quasi-identifying"),
        ("wohnort_plz", "quasi-identifying"),
        ("Familienstand", "quasi-identifying"),
        ("age", "quasi-identifying"),
        ("Hauptdiagnose", "sensitive"),
        ("ICD10_Code", "sensitive"),
        ("Bruttoeinkommen", "sensitive"),
        ("wage", "sensitive"),  # although it ends like age
        ("diagnosis_date", "quasi-identifying"),  # the last part decides
        ("date of diagnosis", "quasi-identifying"),  # or the one before "of"
        ("admission_diagnosis", "sensitive"),
        ("Nachname", "identifying"),
        ("firstName", "identifying"),
        ("Krankenversichertennummer", "identifying"),
        ("Straße", "identifying"),
        ("fnlwgt", "decide yourself"),
    ],
)
def test_first_kind(name: str, role: str) -> None:
    assert kinds_of_name(name)[0].role == role


def test_nothing_known() -> None:
    assert kinds_of_name("A15") == []
    assert kinds_of_name("xyz_q") == []


def test_the_list_is_in_order() -> None:
    """Every role is a known one, and the texts for missing values are written as they are compared."""
    assert {kind.role for kind in words().kinds} == {"identifying", "quasi-identifying", "sensitive", "decide yourself"}
    assert all(text == text.lower().strip() for text in words().missing_texts)
