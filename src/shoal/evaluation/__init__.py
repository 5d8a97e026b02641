"""How safe and how useful a release is: risk, attacks and usefulness, from the original and the release."""
